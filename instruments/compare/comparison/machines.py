"""What is compared on a machine: its states or outputs, said by five kinds of networks."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.instruments.compare.comparison.attention_maps import attention_maps
from krohn.instruments.compare.comparison.derived import Derived, derive
from krohn.instruments.compare.comparison.measurements import (
    MeasuredModel,
    MeasuredSeed,
    lengths_of,
)
from krohn.instruments.compare.comparison.models import (
    TITLES,
    affordable,
    best,
    measure_models,
    open_networks,
    reductions,
    with_sizes,
)
from krohn.instruments.compare.comparison.pipeline import (
    Plan,
    Question,
    Sitting,
    TrainedNetwork,
)
from krohn.instruments.compare.comparison.result import (
    GPT,
    LSTM,
    Comparison,
    Failure,
    ProbeResult,
    TrainedProof,
)
from krohn.instruments.compare.comparison.sweeps import (
    strategies,
    sweeps,
    trained_spans,
)
from krohn.instruments.compare.comparison.trained_networks import (
    RunMeasurements,
    look,
)
from krohn.instruments.compare.measures.first_failures import EACH
from krohn.instruments.compare.models import Architecture, wrap_compiled
from krohn.instruments.compare.tasks.letters import Default
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import presets
from krohn.instruments.compare.training.folder import WEIGHTS
from krohn.instruments.compare.training.run import Cell, Measure
from krohn.replaying import command_line, replay_command
from krohn.report import Progress

STAGES = 3
MOST_CLASSES = 1000
"""Networks say one of so many things at most: read-outs, tables and probes grow with it.

The thesis goes up to 120 (S5)."""
Machine = TrainedNetwork[RunMeasurements]


class MachineQuestion(Question[RunMeasurements, Comparison]):
    """The answer of a machine after each letter."""

    task: Task
    measurement = RunMeasurements

    @property
    def look(self) -> Measure:
        """What measures a network."""
        return look

    @property
    def remark(self) -> str:
        """What is to be known of how the machine was read."""
        return self.task.machine.remark

    def plans(self) -> dict[str, Plan]:
        """A Transformer and an LSTM, with what a user changed."""
        chosen, task = self.settings, self.task
        gpt, taught = presets.gpt(chosen.preset, task, chosen.layers, chosen.length)
        gpt = replace(
            gpt,
            width=chosen.width or gpt.width,
            positions=chosen.known_positions or gpt.positions,
        )
        recurrent: Architecture
        recurrent, learnt = presets.lstm(chosen.preset, task, chosen.length)
        if chosen.provable:
            recurrent, learnt = presets.provable(task, chosen.length)
        if chosen.steps is not None:
            taught, learnt = (
                replace(r, steps=chosen.steps, warmup=min(r.warmup, chosen.steps))
                for r in (taught, learnt)
            )
        return {
            GPT: Plan(TITLES[GPT], gpt, taught),
            LSTM: Plan(TITLES[LSTM], recurrent, learnt),
        }

    @property
    def length(self) -> int:
        """How many letters the words have that are trained on."""
        return self.plans()[GPT].recipe.length

    def derive(self, report: Progress) -> Derived:
        """The network that is proved for the longest words that are measured."""
        lengths = [n for n in lengths_of(self.length) if n >= self.length]
        return derive(self.task, lengths, partial(report, "proving"))

    def result(
        self, derived: Derived, trained: Sequence[Machine], sitting: Sitting
    ) -> Comparison:
        """All networks measured on the same words, and what is seen inside of them."""
        task, length, report = self.task, self.length, sitting.report
        report("measuring", 0, STAGES)
        network = wrap_compiled(derived.file)
        share = affordable(network, length)
        models = measure_models(
            derived, self.group_models(trained), task, length, share
        )
        report("measuring", 1, STAGES)
        chosen = best(trained)
        networks = open_networks(network, chosen, self.settings.device)
        models = with_sizes(models, networks, length)
        report("measuring", 2, STAGES)
        maps = attention_maps(task, length, network, networks.get(GPT))
        spans = trained_spans(task, length, _preferred_letter(models))
        report("measuring", STAGES, STAGES)
        return Comparison(
            machine={**json_format.to_object(task.machine)},
            task=_question(task),
            inputs=_inputs(task),
            classes=len(task.classes),
            length=length,
            preset=self.settings.preset,
            proved=derived.proved,
            contestants=tuple(model.result() for model in models),
            sweeps=sweeps(models, length, spans, derived.proved.length),
            strategies=strategies(models, EACH),
            probes=tuple(
                ProbeResult(key, TITLES[key], one.measured.probed)
                for key, one in chosen.items()
            ),
            maps=maps,
            reductions=reductions(task, self.cells()),
            origin=sitting.origin((task.machine.remark, derived.remark, _fewer(share))),
        )

    def group_models(self, trained: Sequence[Machine]) -> tuple[MeasuredModel, ...]:
        """The trained networks by their kinds, with commands that show it again."""
        models = []
        for key, title in TITLES.items():
            group = [network for network in trained if network.key == key]
            if group:
                about = group[0].plan.architecture.description
                seeds = tuple(self._seed(network) for network in group)
                models.append(MeasuredModel(key, title, about, seeds))
        return tuple(models)

    def _seed(self, network: Machine) -> MeasuredSeed:
        measured, cell = network.measured, network.result.cell
        return MeasuredSeed(
            network.seed,
            measured.measured,
            self._with_replay(cell, measured.failure),
            network.training,
            self._with_command(cell, measured.proof),
        )

    def _with_replay(self, cell: Cell, failure: Failure) -> Failure:
        """The failure with the command that shows it again, if the network is kept.

        The folder of a run is named by its content: no other comparison writes there.
        """
        kept, named, word = self._kept(cell), self.settings.named, failure.word
        if kept is None or named is None or word is None:
            return failure
        return replace(failure, replay=replay_command(kept, word, named))

    def _with_command(
        self, cell: Cell, proof: TrainedProof | None
    ) -> TrainedProof | None:
        """The proof with the command that makes it again, if the network is kept."""
        kept, named = self._kept(cell), self.settings.named
        if proof is None or kept is None or named is None:
            return proof
        again = command_line(["krohn", "verify", *named, "--", kept])
        return replace(proof, again=again)

    def _kept(self, cell: Cell) -> str | None:
        runs = self.settings.runs
        return None if runs is None else str(Path(runs) / cell.name / WEIGHTS)


def check(task: Task) -> None:
    """Refuse what cannot be compared.

    Raises:
        KrohnError: If the task has too many answers, or no compiled network answers it.
    """
    if task.predicts == "next":
        raise KrohnError(
            f"{task.name} asks for the next letter, and compiled networks say states; "
            "compare the machine itself"
        )
    if len(task.classes) > MOST_CLASSES:
        raise KrohnError(
            f"{task.name} has {len(task.classes):,} answers, and networks are compared up "
            f"to {MOST_CLASSES:,}; ask for less, as in 'S5 (first-chair)'"
        )


def _fewer(share: float) -> str:
    """That the compiled network was run on fewer words; empty if it was not."""
    if share == 1:
        return ""
    return (
        f"The compiled network is large: it was run on {share:.1%} of the words that "
        "the others were run on. Its proof does not rest on these runs."
    )


def _preferred_letter(models: Sequence[MeasuredModel]) -> str | None:
    curve = models[0].seeds[0].measured.curves.get("bias")
    return None if curve is None else curve.letter


def _question(task: Task) -> str:
    what = "output" if task.shows == "outputs" else "state"
    after = "every letter" if task.asked is None else ", ".join(task.asked)
    return f"the {what} of {task.machine.name} after {after}"


def _inputs(task: Task) -> str:
    """Which words; those of a machine itself are not called so by who does not know."""
    if isinstance(task.inputs, Default):
        return "uniform random legal letters; for machines of Liu (2024) as drawn there"
    return task.inputs.description
