"""What kinds of sources say of themselves to networks that are trained on them.

A kind names in the `Slice` of its folder a function for each form of task that its sources
have. This instrument knows the forms and no kind.
"""

from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Any, Literal, Protocol

from krohn.algebra.automaton import Automaton
from krohn.program.slices import slices

Form = Literal["beliefs", "unrolling", "texts"]
"""A process with beliefs (`krohn.instruments.compare.tasks.beliefs.Process`); what is a
machine on short words (`krohn.instruments.compare.tasks.sources.Unrolling`); texts that go
on token by token (`krohn.instruments.compare.tasks.texts.Chain`)."""


class Unrolling(Protocol):
    """A program that is a machine on words that are not too long.

    Attributes:
        source: The program, with a name.
    """

    source: Any

    def machine(self, length: int) -> Automaton:
        """The machine that says the same of every word of up to so many letters."""


def source_in_form(form: Form, source: object) -> Any:
    """What a source, or that of a name, is as a task of a form; None if it has no such.

    Raises:
        KrohnError: If a name is wrong, or nothing can be trained on such a source.
    """
    candidates = (make(source) for make in _makers(form))
    return next((each for each in candidates if each is not None), None)


def _makers(form: Form) -> Iterator[Any]:
    for known in slices().values():
        if form in known.tasks:
            yield resolve_name(known.tasks[form])
