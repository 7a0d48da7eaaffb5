"""Machines in the commands: networks that say a state, or an output, after each letter."""

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.machine_reading import AS_IT_IS, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.option_rules import COMPILE, facts_of, refuse, spell_option
from krohn.program.claim import Shows
from krohn.program.slices import find_in_slices, needed_part, slice_sources
from krohn.source_kinds import KINDS
from krohn.source_kinds.kind import EXPLAINED, Kind, Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch.nn import Module

    from krohn.checks import Checks
    from krohn.compiled_model import CompiledModel
    from krohn.network.reading import Opened
    from krohn.report import Report

AS_SOURCES = {
    e.of_machines: wire for wire, e in slice_sources().items() if e.of_machines
}
"""By construction the kind of source that it takes a machine for."""
LONGEST_WORD = 256
"""Letters of a word that is read letter by letter with few digits."""
OF_FORMS = ("arch", "observe", "effort")
"""The options that facts of networks of another architecture depend on."""


class Machines(Kind[Automaton]):
    """Finite machines: names of the zoo, files, patterns, Python objects."""

    wire = "machine"
    source = Automaton
    claim = "exact"
    unit = "letter"
    takes = frozenset(each.name for each in fields(CompileOptions)) - {
        "addresses",
        "attention",
        "within",
    }
    pictured = frozenset(
        {"source", "word", "eggbox", "effort", "complete", "read_as", "start"}
    )
    explained = EXPLAINED

    def check_given(self, given: Collection[str], values: Mapping[str, Any]) -> None:
        """Refuse options that have an effect only beside others."""
        refuse(COMPILE, values, given)

    def take_object(self, source: Any, reading: MachineReading = AS_IT_IS) -> Automaton:
        """The machine that anything is that `krohn.automaton` takes."""
        return machine_of(source, reading)

    def says_laws(self, construction: str) -> bool:
        """Whether it makes a generator."""
        return find_in_slices("parts", f"laws by {construction}") is not None

    def resolve_source(
        self, source: Automaton, asked: CompileOptions
    ) -> tuple[Kind[Any], Any]:
        """The source to compile, with its kind."""
        if asked.block is None and asked.construction in AS_SOURCES:
            kind = KINDS[AS_SOURCES[asked.construction]]
            return kind, kind.of_source(source)
        return super().resolve_source(source, asked)

    def compile(self, source: Automaton, asked: CompileOptions) -> "CompiledModel":
        """The network of the best construction that is proved."""
        _check_exact(asked)
        from krohn.machine_compilation import compile_machine  # all constructions

        return compile_machine(source, asked)

    def explain(self, source: Automaton, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a machine, and the table of its constructions."""
        _check_exact(asked)
        source = with_outputs(source, asked.observe)
        if asked.arch != "transformer":
            what = f"facts of networks with --arch {asked.arch}"
            for option in asked.given_options:
                if option not in OF_FORMS:
                    raise KrohnError(f"{spell_option(option)} has no effect on {what}")
            facts_of_networks = needed_part(facts_of(asked.arch), what)
            shown = source if asked.observe else replace(source, output=None)
            told: dict[str, Any]
            told = facts_of_networks(shown, Budget(steps_of(asked.effort)))
            return told
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
        draw = needed_part("attention of laws", "a picture of what a generator reads")
        return draw(source, words[0] if words else None)  # type: ignore[no-any-return]

    def letters_and_classes(
        self, file: ModelFile, machine: Automaton | None
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The name of the machine, those of its letters, of its states or outputs."""
        from krohn.foreign import own_machine, with_names

        own = own_machine(file if machine is None else with_names(file, machine)[0])
        outputs = file.claim.shows is Shows.OUTPUTS
        shown = own.output.names if outputs and own.output is not None else own.states
        return own.name, own.letters, shown

    def stated_machine(self, file: ModelFile) -> Automaton | None:
        """The machine that a file states; None if it states none, or only names."""
        from krohn.foreign import names_machine, own_machine

        return own_machine(file) if names_machine(file) else None

    def runs(self, file: ModelFile, network: "Opened" = None) -> Runs:
        """The function that answers after each letter of a word.

        A generator answers laws.
        """
        from krohn.running import runner_of

        return runner_of(file, network).run_each

    def verify(self, file: ModelFile, checks: "Checks") -> "Report":
        """Prove, or run, what a file claims of its machine, or of another one."""
        from krohn.machine_verification import verify_machine

        return verify_machine(file, checks)

    def is_right_on(
        self, file: ModelFile, network: "Module", count: int, checks: "Checks"
    ) -> bool:
        """Whether it is right on words of every strategy, of up to `LONGEST_WORD`."""
        from krohn.verification_target import DEFAULT_SAMPLE_LENGTH, open_target
        from krohn.verify.testing.few_digits import is_right_on_words

        target = open_target(file, checks.machine, checks.observe)
        length = min(target.length or DEFAULT_SAMPLE_LENGTH, LONGEST_WORD)
        words = count, length, checks.seed
        return is_right_on_words(target.file, network, target.machine, *words)


def _says_laws(file: ModelFile) -> bool:
    return kind_of(file.architecture).answers == "laws"


def _check_exact(asked: CompileOptions) -> None:
    if asked.within is not None:
        raise CompileError("--within is for beliefs; the states of a machine are exact")
