"""Names of sources to begin with, and what each is."""

from krohn.program.catalogue import first_line, texts

CATALOGUE = texts(__file__, ".crasp")
"""The texts that come with Krohn."""
EXAMPLES = {
    f"crasp:{name}": first_line(path).removeprefix(f"{name}: ")
    for name, path in CATALOGUE.items()
}
