"""One module for each construction: from a machine to a Program."""
