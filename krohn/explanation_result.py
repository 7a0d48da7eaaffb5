"""The facts that `krohn.explain` returns."""

from contextlib import redirect_stdout
from io import StringIO
from typing import Any


class Explanation(dict[str, Any]):
    """Facts about a source by name, which print as ``krohn explain`` prints them.

    Attributes:
        what: What the source is, in a line; empty if only its facts say it.
        text: The text of the program that it is; empty if it is none.
    """

    what = ""
    text = ""

    def __str__(self) -> str:
        from krohn.show.explanation import print_facts

        with redirect_stdout(StringIO()) as text:
            print_facts(self)
        return text.getvalue().rstrip("\n")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The same in IPython and notebooks."""
        del cycle
        printer.text(str(self))
