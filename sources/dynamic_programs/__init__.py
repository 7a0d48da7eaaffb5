"""Dynamic programs of a fixed size, as chains of thought."""
