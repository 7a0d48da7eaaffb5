"""From a machine to a Program, and from a Program to tensors."""
