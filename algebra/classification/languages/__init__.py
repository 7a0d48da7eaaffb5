"""The classes of languages that a machine's language belongs to (docs/classes.md)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.digraph import r_trivial
from krohn.algebra.classification.elements import aperiodic
from krohn.algebra.classification.findings import Findings, find
from krohn.algebra.classification.languages.c_rasp import c_rasp
from krohn.algebra.classification.languages.language import Language, language_of
from krohn.algebra.classification.languages.local import (
    locally_testable,
    strictly_local,
    strictly_piecewise,
)
from krohn.algebra.classification.languages.piecewise import (
    aperiodic_without_flip_flop,
    no_flip_flop,
    piecewise_testable,
)
from krohn.algebra.classification.languages.threshold import (
    dot_depth_one,
    threshold_testable,
)
from krohn.algebra.classification.properties import Property
from krohn.algebra.errors import MachineError

__all__ = ["Language", "LanguageClasses", "classify_language", "language_of"]


@dataclass(frozen=True)
class LanguageClasses:
    """Which classes the language of a machine belongs to.

    Attributes:
        acceptor: Whether this is the language that an acceptor accepts; else the
            classes hold for every set of words that leads to one state of the minimal
            machine.
        states: The number of states of the minimal complete machine.
        tier: The letters that change some state; the others can be inserted and left
            out anywhere.
        alike: The sets of letters that act alike, where there are two or more in one;
            in witnesses and forbidden words the first stands for all.
        classes: The classes, in a fixed order.
    """

    acceptor: bool
    states: int
    tier: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]
    classes: tuple[Property, ...]

    def __getitem__(self, wanted: str) -> Property:
        """The class of this name.

        Raises:
            MachineError: If it was not asked for.
        """
        for known in self.classes:
            if known.name == wanted:
                return known
        names = ", ".join(known.name for known in self.classes)
        raise MachineError(f"no class {wanted!r} was asked for, but {names}")


def classify_language(
    machine: Automaton, budget: Budget, known: Findings | None = None
) -> LanguageClasses:
    """Which subregular classes a language belongs to, and which classes of programs.

    Args:
        machine: An acceptor, or any other machine (see `language_of`).
        budget: The most elements of the monoid, and the most work.
        known: What was found out before; used if it is about the same machine.
    """
    language = language_of(machine)
    if known is None or known.machine != language.machine:
        known = find(language.machine, budget.part(budget.left / 3))
    search = _Search(language, known, budget)
    subregular = list(search.subregular())
    tier = language.on_tier()
    if tier is language:
        on_tier = [p for p in subregular if p.name in _LOCAL]
    else:
        findings = find(tier.machine, budget.part(budget.left / 3))
        on_tier = list(_Search(tier, findings, budget).local())
    return LanguageClasses(
        language.accepting is not None,
        language.states,
        language.tier,
        tuple(names for names in language.alike if len(names) > 1),
        (
            *subregular,
            *(replace(p, name=f"tier-based {p.name}") for p in on_tier),
            *search.generalising(),
        ),
    )


# The classes that have tier-based forms; subsequences need none, for letters outside
# the tier occur anywhere (docs/classes.md, section 1).
_LOCAL = (
    "strictly local",
    "locally testable",
    "locally threshold testable",
    "piecewise locally testable",
)


class _Search:
    """The tests of one language, each with its part of the budget."""

    def __init__(self, language: Language, found: Findings, budget: Budget) -> None:
        self.language, self.found, self.budget = language, found, budget
        self.ordered = r_trivial(language.machine)
        self.aperiodic = aperiodic(found, bool(self.ordered.holds))

    def ask(self, name: str, test: Callable[[Budget], Property]) -> Property:
        """The answer of a test, undecided if its part of the budget is spent."""
        try:
            return test(self.budget.part(self.budget.left / 4))
        except BudgetExceeded as error:
            self.budget.leave_out(f"{name}: not decided ({error})")
            return Property(name, None, str(error))

    def subregular(self) -> Iterator[Property]:
        """The classes of factors and subsequences, and the star-free languages."""
        yield from self.local()
        if self.language.accepting is not None:
            test = partial(strictly_piecewise, self.language)
            yield self.ask("strictly piecewise", test)
        yield self.piecewise
        yield replace(self.aperiodic, name="star-free")

    @cached_property
    def piecewise(self) -> Property:
        """Whether the language is piecewise testable."""
        test = partial(piecewise_testable, self.language)
        return self.ask("piecewise testable", test)

    def local(self) -> Iterator[Property]:
        """The classes that have tier-based forms."""
        language, findings, free = self.language, self.found, self.aperiodic
        if language.accepting is not None:
            yield self.ask("strictly local", partial(strictly_local, language))
        local = self.ask("locally testable", partial(locally_testable, findings, free))
        test = partial(threshold_testable, language, findings, free, local)
        threshold = self.ask("locally threshold testable", test)
        yield from (local, threshold)
        smaller = [p for p in (local, threshold, self.piecewise) if p.holds]
        known = smaller[0] if smaller else None
        test = partial(dot_depth_one, language, findings, free, known)
        yield self.ask("piecewise locally testable", test)

    def generalising(self) -> Iterator[Property]:
        """The classes that predict length generalisation."""
        single = self.ask("R∘G", partial(no_flip_flop, self.language))
        yield replace(self.ordered, name="R")
        test = partial(c_rasp, self.language, single, self.aperiodic)
        rasp = self.ask("C-RASP", test)
        yield rasp
        yield aperiodic_without_flip_flop(self.aperiodic, single, rasp)
        yield single
