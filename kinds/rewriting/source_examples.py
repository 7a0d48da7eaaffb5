"""Names of sources to begin with, and what each is."""

from krohn.program.catalogue import first_line, texts

CATALOGUE = texts(__file__, ".rules")
"""The texts that come with Krohn."""
EXAMPLES = {
    "Arithmetic6,11": "expressions modulo a prime, step by step",
    **{f"{name}8": first_line(path).rstrip(".") for name, path in CATALOGUE.items()},
}
