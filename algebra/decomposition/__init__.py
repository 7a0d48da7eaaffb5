"""Ways to take a machine apart into a cascade; ``covering.prove`` checks the cascades."""
