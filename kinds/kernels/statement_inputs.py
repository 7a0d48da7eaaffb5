"""The inputs of claims about kernels."""

from krohn.program.inputs import Box, Inputs, Stated, whole_numbers
from krohn.program.strict_json import reals


def interval(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All real inputs within an interval."""
    (most,), (low, high) = whole_numbers(length), reals(source["inputs"], 1).tolist()
    return Box(((low, high),), 1 if source.get("order") is None else most, most)
