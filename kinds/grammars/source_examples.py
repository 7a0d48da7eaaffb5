"""Names of sources to begin with, and what each is."""

from krohn.program.catalogue import first_line, texts

CATALOGUE = texts(__file__, ".pcfg")
"""The texts that come with Krohn."""
EXAMPLES = {
    f"pcfg:{name}:depth=3": first_line(path).removeprefix(f"{name}: ")
    for name, path in CATALOGUE.items()
}
