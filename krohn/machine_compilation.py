"""Compiling a machine: the best construction whose network is proved; and generators."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiled_model import (
    Choice,
    CompiledModel,
    MachineClaim,
    Proved,
    Way,
    as_it_is,
    choose,
    halves,
    plan_ways,
    reasons,
    there_is,
    with_evidence,
)
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, Tried
from krohn.compiler.constructions.registry import SEARCHING
from krohn.compiler.planning import Planning, planning, shorter
from krohn.machines import with_outputs
from krohn.network.architecture import kind_of
from krohn.option_rules import TRANSFORMER, refuse
from krohn.program.slices import find, find_in_slices, needed_part, slices


def compile_machine(source: Automaton, asked: CompileOptions) -> CompiledModel:
    """The network of the best construction that is proved.

    Raises:
        CompileError: If there is none.
    """
    if asked.disguise is not None and asked.dtype is None:
        asked = replace(asked, formats=("float64",))
    began = time.monotonic()
    _check(asked)
    source = with_outputs(source, asked.observe)
    budget = Budget(steps_of(asked.effort))
    claim, choice, way = _best_way(source, asked, budget)
    file, proof = choice.found or (claim.file(way.make()), None)
    if asked.arch == "transformer" and asked.construction in ("auto", *SEARCHING):
        file.header["search"] = budget.record()
    file, seconds = with_evidence(file, proof), time.monotonic() - began
    name = str(file.header["construction"])
    return CompiledModel(file, name, proof, seconds, choice.tried)


class _NoPlan(CompileError):
    """No construction serves; ``shorter`` finds a length for which one does, if any."""

    def __init__(self, message: str, shorter: Callable[[], int | None]) -> None:
        super().__init__(message)
        self.shorter = shorter


def _best_way(
    source: Automaton, asked: CompileOptions, budget: Budget
) -> tuple[MachineClaim, Choice[CompiledNetwork, Proved], Way[CompiledNetwork]]:
    """What is claimed, and the best network of which it is proved.

    Raises:
        CompileError: If there is none. The message has options with which there is one.
    """
    try:
        claim, choice = _best(source, asked, budget)
    except _NoPlan as refused:
        raise CompileError(
            f"{refused}{_other_options(source, asked, refused)}"
        ) from None
    if choice.way is None:
        raise _certification_error(source, asked, choice.tried)
    return claim, choice, choice.way


def _other_options(source: Automaton, asked: CompileOptions, refused: _NoPlan) -> str:
    precision = asked.options.precision
    if precision.digits < precision.accumulator_digits:
        return there_is(islice(_working(source, _easier(asked, noisy=True)), 1))
    length = refused.shorter()
    if length is None:
        return ""
    return f"; -T {length} is within these limits, and a longer one may be"


def _best(
    source: Automaton, asked: CompileOptions, budget: Budget
) -> tuple[MachineClaim, Choice[CompiledNetwork, Proved]]:
    """What is claimed, and the best network of which it is proved."""
    disguise, observed = None, asked.observe is not None
    if asked.disguise is not None:
        disguises = needed_part("disguises", "a disguise")
        disguise = disguises.Disguise.of(asked.disguise, asked.seed, asked.strength)
    shown = source if observed else replace(source, output=None)
    arguments = source, asked.length, asked.options.precision, observed
    claim = MachineClaim(*arguments, disguise)
    proved = partial(claim.prove_network, progress=asked.progress)
    return claim, choose(_ways(shown, asked, budget), proved, lambda _: asked.proof)


def best_network(machine: Automaton, asked: CompileOptions) -> CompiledNetwork:
    """The network of the best construction that is proved, as it was made.

    Args:
        machine: With outputs, if these are shown.
        asked: What is asked for.

    Raises:
        CompileError: If there is none.
    """
    return _best_way(machine, asked, Budget(steps_of(asked.effort)))[2].make()


def _check(asked: CompileOptions) -> None:
    """Refuse options that others leave without effect.

    Raises:
        CompileError: If there is one.
    """
    refuse(TRANSFORMER, vars(asked), asked.given_options)
    if asked.attention is not None:
        raise CompileError("--attention is for chains of thought; this is a machine")
    if find_in_slices("parts", f"laws by {asked.construction}") is not None:
        raise CompileError(
            "a balanced generator says laws instead of states; make it with "
            "krohn.compile_generator"
        )


def _certification_error(
    source: Automaton, asked: CompileOptions, tried: Sequence[Tried]
) -> CompileError:
    """No network could be proved: why, and with what one is."""
    at = "" if asked.length is None else f" at length {asked.length}"
    # A wider format has no fewer scores, rows or cases to look at.
    noisy = not all("too many" in each.reason for each in tried)
    works: Iterator[str] = islice(_working(source, _easier(asked, noisy)), 1)
    recurrent = replace(asked, arch="rnn", length=None, construction="auto")
    if asked.arch == "transformer":
        every = [(_RECURRENT, recurrent)]
        works = chain(works, _working(source, every))
    return CompileError(
        f"{source.name} cannot be certified in {asked.formats[0]}{at}, so nothing was "
        f"written ({reasons(tried)}){there_is(works)}"
    )


_RECURRENT = "--arch rnn, which is for words of every length (leave -T out)"


WIDER: dict[str, tuple[str, ...]] = {
    "bfloat16": ("float32", "float64"),
    "float16": ("float32", "float64"),
    "float32": ("float64",),
    "float64": (),
}
"""The formats to try where a narrow one is refused, the narrowest first."""


def _easier(asked: CompileOptions, noisy: bool) -> Iterator[tuple[str, CompileOptions]]:
    """Options that may lead to a network of the same architecture, and what they ask."""
    for wider in WIDER[asked.formats[0]] if noisy else ():
        yield f"--dtype {wider}", replace(asked, formats=(wider,))
    for length in halves(asked.length or 0):
        yield f"-T {length}", replace(asked, length=length)
    construction, _, sizes = asked.construction.partition(":")
    if "units=" in sizes:
        yield (
            f"--construction {construction}",
            replace(asked, construction=construction),
        )


def _working(
    source: Automaton, ways: Iterable[tuple[str, CompileOptions]]
) -> Iterator[str]:
    """The options with which a network is proved."""
    for option, asked in ways:
        with suppress(KrohnError):
            _check(asked)
            if _best(source, asked, Budget(steps_of(asked.effort)))[1].way is not None:
                yield option


def _ways(
    machine: Automaton, asked: CompileOptions, budget: Budget
) -> Iterator[Way[CompiledNetwork]]:
    """The networks to try to prove, best first.

    Raises:
        CompileError: If there is none.
    """
    construction = asked.construction.partition(":")[0]
    brought = find_in_slices("networks", (asked.arch, construction))
    if asked.arch != "transformer" or brought is not None:
        for built in _without_planning(machine, asked):
            yield Way(built.construction, built.cost, partial(as_it_is, built))
        return
    longest = asked.longest("a Transformer needs the longest length")

    def plans(length: int) -> Planning:
        arguments = machine, length, asked.options, asked.construction, budget
        return planning(*arguments, proved=asked.proof)

    known, way = plans(longest), None
    for way in plan_ways(known, asked.minimise, asked.on_pass):
        yield way
    if way is None:
        raise _NoPlan(known.reasons(), partial(shorter, longest, plans))


def _without_planning(
    machine: Automaton, asked: CompileOptions
) -> Iterable[CompiledNetwork]:
    """The networks of an architecture that has one construction at a time.

    Raises:
        CompileError: If no slice has the construction.
    """
    construction = asked.construction.partition(":")[0]
    for name in (construction, "*"):
        if (makes := find_in_slices("networks", (asked.arch, name))) is not None:
            made: Iterable[CompiledNetwork] = find(makes)(machine, asked)
            return made
    known = [*map(repr, _constructions(asked.arch))]
    which = " or ".join(filter(None, (", ".join(known[:-1]), *known[-1:])))
    raise CompileError(
        f"{kind_of({'kind': asked.arch}).called} is built by {which}, not by "
        f"{asked.construction!r}; "
        "leave --construction out"
    )


def _constructions(arch: str) -> list[str]:
    """The constructions of an architecture that slices bring."""
    every = {pair for each in slices().values() for pair in each.networks}
    return sorted(name for of, name in every if of == arch and name != "auto")
