"""Which algorithm? What a network holds of a derived one's variables, and what it uses."""
