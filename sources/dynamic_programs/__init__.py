"""Dynamic programs of a fixed size, as chains of thought."""

import re

from program.chain_of_thought import ChainOfThought
from sources.dynamic_programs.edit_distance import edit_distance

FAMILIES = {
    "EditDistance6,7": "edit distance of words of 6 and 7 letters, cell by cell; "
    "also EditDistance6,7:letters=4,boundary=1"
}
"""An example of each family, with what it is."""
_FORM = re.compile(r"EditDistance(\d{1,4}),(\d{1,4})(?::(.+))?")
_OPTION = re.compile(r"(letters|boundary)=(\d{1,4})")


def named(text: str) -> ChainOfThought | None:
    """The dynamic program of a name; None if it is the name of none.

    Raises:
        Refused: If one of its numbers is out of range.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    told = [_OPTION.fullmatch(each) for each in (found[3] or "").split(",") if each]
    options = {each[1]: int(each[2]) for each in told if each}
    if len(options) < len(told):
        return None
    return edit_distance(int(found[1]), int(found[2]), **options)
