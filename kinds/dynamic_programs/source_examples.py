"""Names of sources to begin with, and what each is."""

from krohn.program.catalogue import first_line, texts

CATALOGUE = texts(__file__, ".dp")
"""The texts that come with Krohn."""
EXAMPLES = dict(first_line(path).split(": ", 1) for path in CATALOGUE.values())
INCREASING = {"ShortLIS20": "longest increasing subsequence, one number a number"}
