"""Machines in the commands: networks that say a state, or an output, after each letter."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.errors import KrohnError
from krohn.asked import Asked, check_one_of
from krohn.checks import Checks
from krohn.compiled_model import (
    CompiledModel,
    MachineClaim,
    Way,
    choose,
    planned,
    reasons,
    with_evidence,
)
from krohn.compiler import gated_rnn, generator, pruned, state_space
from krohn.compiler.compiled_network import (
    RECURRENT,
    CompiledNetwork,
    Tried,
    compile_rnn,
    compile_ssm,
)
from krohn.compiler.construction_choice.known_constructions import SEARCHING
from krohn.compiler.construction_choice.planning import planning
from krohn.compiler.disguise import Disguise
from krohn.compiler.errors import CompileError
from krohn.foreign import names_machine, own_machine, with_names
from krohn.machines import machine_of, with_outputs
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import Precision
from krohn.option_rules import COMPILE, TRANSFORMER, refuse, spelled
from krohn.report import Report
from krohn.source_kinds import ENTRIES, KINDS
from krohn.source_kinds.kind import Kind, Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AS_SOURCES = {e.of_machines: wire for wire, e in ENTRIES.items() if e.of_machines}
"""By construction the kind of source that it takes a machine for."""
OF_FORMS = ("arch", "start", "observation", "effort")
"""The options that the table of state space models depends on."""


class Machines(Kind[Automaton]):
    """Finite machines: names of the zoo, files, patterns, Python objects."""

    wire = "machine"
    source = Automaton
    claim = "exact"
    unit = "letter"
    takes = frozenset(each.name for each in fields(Asked)) - {"attention", "within"}
    pictured = frozenset({"source", "word", "eggbox", "effort", "complete", "kind"})
    of_laws = frozenset({generator.NAME})
    explained = 128

    def check_given(self, given: Collection[str], values: Mapping[str, Any]) -> None:
        """Refuse options that have an effect only beside others."""
        refuse(COMPILE, values, given)

    def taken(self, source: Any) -> Automaton:
        """The machine that anything is that `krohn.automaton` takes."""
        return machine_of(source)

    def turned(self, source: Automaton, asked: Asked) -> tuple[Kind[Any], Any]:
        """The source to compile, with its kind, from its start state."""
        source = source if asked.start is None else source.with_start(asked.start)
        if asked.block is None and asked.construction in AS_SOURCES:
            kind = KINDS[AS_SOURCES[asked.construction]]
            return kind, kind.of_source(source)
        return super().turned(source, asked)

    def compile(self, source: Automaton, asked: Asked) -> CompiledModel:
        """The network of the best construction that is proved."""
        if asked.disguise is not None and asked.dtype is None:
            asked = replace(asked, formats=("float64",))
        began, options = time.monotonic(), asked.options
        _check(asked)
        disguise = None
        if asked.disguise is not None:
            disguise = Disguise.of(asked.disguise, asked.seed, asked.strength)
        source = with_outputs(source, asked.observation)
        observed = asked.observation is not None
        shown = source if observed else replace(source, output=None)
        budget = Budget(steps_of(asked.effort))
        told = source, asked.length, options.precision, observed
        claim = MachineClaim(*told, disguise)
        proved = partial(claim.proved, progress=asked.progress)
        choice = choose(_ways(shown, asked, budget), proved, lambda _: asked.proved)
        if choice.way is None:
            raise _uncertified(source.name, asked, choice.tried)
        file, proof = choice.found or (claim.file(choice.way.make()), None)
        if asked.arch == "transformer" and asked.construction in ("auto", *SEARCHING):
            file.header["search"] = budget.record()
        file, seconds = with_evidence(file, proof), time.monotonic() - began
        name = str(file.header["construction"])
        return CompiledModel(file, name, proof, seconds, choice.tried)

    def explain(self, source: Automaton, asked: Asked) -> dict[str, Any]:
        """The facts of a machine, and the table of its constructions."""
        if asked.within is not None:
            raise _no_error()
        source = with_outputs(source, asked.observation)
        if asked.arch == "ssm":
            for option in asked.given:
                if option not in OF_FORMS:
                    what = "has no effect on a table of state space models"
                    raise KrohnError(f"{spelled(option)} {what}")
            from krohn.state_space_forms import forms

            shown = source if asked.observation else replace(source, output=None)
            return forms(shown, Budget(steps_of(asked.effort)))
        from krohn.machine_facts import machine_facts  # much algebra

        length = self.explained if asked.length is None else asked.length
        return machine_facts(source, replace(asked, length=length))

    def remarks(self, source: Automaton | None) -> dict[str, Any]:
        """How its file was read, if there is a machine, and anything to say of it."""
        return {"remark": source.remark} if source and source.remark else {}

    def draw(self, source: Automaton) -> "Figure":
        """Its states, and arrows where letters lead."""
        from krohn.drawing import draw_machine

        return draw_machine(source)

    def draw_file(self, file: ModelFile) -> "Figure":
        """The picture of a network's residual stream; for a generator, of its attention."""
        return self.draw_text(file, []) if _says_laws(file) else super().draw_file(file)

    def draw_text(self, source: Automaton | ModelFile, words: list[str]) -> "Figure":
        """The picture of a generator's attention along a prefix; it writes no texts."""
        if not isinstance(source, ModelFile) or not _says_laws(source):
            return super().draw_text(source, words)
        from krohn.attention import attention_picture

        return attention_picture(source, words[0] if words else None)

    def letters_and_classes(
        self, file: ModelFile, machine: Automaton | None
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The name of the machine, those of its letters, of its states or outputs."""
        own = own_machine(file if machine is None else with_names(file, machine)[0])
        outputs = file.header["claim"].get("shows", "states") != "states"
        shown = own.output.names if outputs and own.output is not None else own.states
        return own.name, own.letters, shown

    def stated_machine(self, file: ModelFile) -> Automaton | None:
        """The machine that a file states; None if it states none, or only names."""
        return own_machine(file) if names_machine(file) else None

    def runs(self, file: ModelFile) -> Runs:
        """The function that answers after each letter of a word.

        A generator answers laws.
        """
        from krohn.running import letters_given, runner_of  # torch

        runner = runner_of(file)
        return partial(map, lambda w: runner.run(letters_given(w, runner.machine)))

    def verify(self, file: ModelFile, checks: Checks) -> Report:
        """Prove, or run, what a file claims of its machine, or of another one."""
        from krohn.machine_verification import verified

        return verified(file, checks)


def _says_laws(file: ModelFile) -> bool:
    return kind_of(file.header["architecture"]).answers == "laws"


def _no_error() -> CompileError:
    return CompileError("--within is for beliefs; the states of a machine are exact")


def _check(asked: Asked) -> None:
    """Refuse options that others leave without effect.

    Raises:
        CompileError: If there is one.
    """
    refuse(TRANSFORMER, vars(asked), asked.given)
    if asked.attention is not None:
        raise CompileError("--attention is for chains of thought; this is a machine")
    if asked.construction == generator.NAME:
        raise CompileError(
            "a balanced generator says laws instead of states; make it with "
            "krohn.compile_generator"
        )
    if asked.within is not None:
        raise _no_error()


def _uncertified(name: str, asked: Asked, tried: Sequence[Tried]) -> CompileError:
    """No network could be proved: why, and what to try."""
    at = "" if asked.length is None else f" at length {asked.length}"
    # A wider format has no fewer scores, rows or cases to look at.
    noisy = not all("too many" in each.reason for each in tried)
    dtype = asked.formats[0]
    wider = "--dtype float64, " if noisy and dtype != "float64" else ""
    return CompileError(
        f"{name} cannot be certified in {dtype}{at}, so nothing was written "
        f"({reasons(tried)}). Try {wider}{_other(name, asked)}"
    )


def _other(name: str, asked: Asked) -> str:
    """The advice for a network that cannot be proved."""
    ways = {
        "transformer": "a shorter length, or another construction",
        "ssm": f"a shorter length (`krohn explain {name} --arch ssm` says the longest)",
    }
    said = pruned.choice(asked.construction)
    units = said is not None and said.units is not None
    return "more units" if units else ways.get(asked.arch, "fewer states")


def _ways(
    machine: Automaton, asked: Asked, budget: Budget
) -> Iterator[Way[CompiledNetwork]]:
    """The networks to try to prove, best first.

    Raises:
        CompileError: If there is none.
    """
    if asked.arch != "rnn" and pruned.choice(asked.construction) is not None:
        raise CompileError(f"{pruned.NAME} is for --arch rnn, not --arch {asked.arch}")
    if asked.arch != "transformer":
        for built in _without_planning(machine, asked):
            yield Way(built.construction, built.cost, partial(_made, built))
        return
    longest = asked.longest("a Transformer needs the longest length")
    known = planning(machine, longest, asked.options, asked.construction, budget)
    way = None
    for way in planned(known, asked.minimise, asked.observe):
        yield way
    if way is None:
        raise CompileError(known.reasons())


def _made(built: CompiledNetwork) -> CompiledNetwork:
    return built


def _without_planning(machine: Automaton, asked: Asked) -> Iterable[CompiledNetwork]:
    """The networks of an architecture that has one construction at a time."""
    chosen, precision = pruned.choice(asked.construction), asked.options.precision
    if chosen is not None:
        return pruned.networks(machine, precision, chosen)
    if asked.arch == "ssm":
        return [_state_space(machine, asked, precision)]
    return [_recurrent(machine, asked.construction, precision, asked.arch)]


def _recurrent(
    machine: Automaton, construction: str, precision: Precision, arch: str
) -> CompiledNetwork:
    """A recurrent network of a machine."""
    known, _ = RECURRENT[arch]
    if construction in ("auto", known):
        return compile_rnn(machine, precision, arch)
    if arch != "rnn":
        raise CompileError(
            f"an {arch.upper()} is built by {known!r}, not by {construction!r}; leave "
            "--construction out"
        )
    if construction != gated_rnn.NAME:
        raise CompileError(
            f"an RNN is built by 'elman', 'gated' or 'pruned', not by {construction!r}; "
            "leave --construction out"
        )
    if machine.output is not None:
        raise CompileError("'gated' says states, not outputs; leave --construction out")
    network = gated_rnn.gated_network(
        KINDS["linear-system"].of_source(machine), precision
    )
    return CompiledNetwork(gated_rnn.NAME, network, {}, None)


def _state_space(
    machine: Automaton, asked: Asked, precision: Precision
) -> CompiledNetwork:
    form = state_space.ROUNDING if asked.construction == "auto" else asked.construction
    check_one_of("--construction", form, state_space.FORMS)
    if asked.length is not None:
        asked.longest("a state space model needs the longest length")
    return compile_ssm(machine, asked.length, form, precision)
