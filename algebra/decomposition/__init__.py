"""Ways to take a machine apart into a cascade; `krohn.algebra.cascade.prove` checks it."""
