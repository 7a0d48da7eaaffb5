"""From a hidden Markov model or a linear system to a comparison, with its networks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compilation import compile as compile_source
from krohn.instruments.compare.comparison.belief_result import (
    BeliefComparison,
    BeliefModel,
    BeliefProof,
    BeliefSeed,
    Geometry,
)
from krohn.instruments.compare.comparison.pipeline import (
    Plan,
    Question,
    Sitting,
    TrainedNetwork,
)
from krohn.instruments.compare.measures.baselines import TOKENS
from krohn.instruments.compare.measures.beliefs import (
    THRESHOLDS,
    Answers,
    BeliefScores,
    best_window,
    fit,
    scores,
)
from krohn.instruments.compare.models import (
    Architecture,
    Compiled,
    Network,
    cost,
    wrap_compiled,
)
from krohn.instruments.compare.probes.beliefs import (
    LayerProbe,
    attention_moved,
    layer_probes,
    read_beliefs,
)
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.instruments.compare.training.beliefs import (
    BeliefRecipe,
    outputs,
)
from krohn.instruments.compare.training.presets import preset
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import Measure, Run
from krohn.program.results import to_object
from krohn.program.slices import part
from krohn.report import Progress

# The networks of a comparison on a hidden Markov model: trained, compiled, and rules.


MEASURED, COUNTED, PROBED = 1 << 20, (1 << 20) + 1, (1 << 20) + 2
"""Seeds of the words that are measured, counted and probed; runs have small ones."""
WORDS = 1024


@dataclass(frozen=True)
class BeliefMeasurements:
    """The measurements of a network, made in the process that trained it.

    Attributes:
        scores: On fresh words.
        probes: By layer.
        moved: By layer with heads.
        parameters: Numbers that are stored.
    """

    scores: BeliefScores
    probes: tuple[LayerProbe, ...]
    moved: tuple[float, ...]
    parameters: int


def look(run: Run) -> Any:
    """`BeliefMeasurements` of a network as JSON; other processes call this."""
    task, network, length = run.task, run.network, run.recipe.length
    assert isinstance(task, BeliefTask)
    belief_scores = scores(
        lambda words: outputs(network, task, words), task, length, MEASURED, WORDS
    )
    probes = layer_probes(network, task, length, PROBED)
    moved = attention_moved(network, task, length, PROBED)
    return to_object(
        BeliefMeasurements(
            belief_scores, probes, moved, cost(network, length).parameters
        )
    )


Trained = TrainedNetwork[BeliefMeasurements]


class BeliefQuestion(Question[BeliefMeasurements, BeliefComparison]):
    """The belief after each letter, or the law of the next letter."""

    task: BeliefTask
    measurement = BeliefMeasurements

    @property
    def look(self) -> Measure:
        """What measures a network."""
        return look

    @property
    def name(self) -> str:
        """Of the source."""
        return str(self.task.source.name)

    def plans(self) -> dict[str, Plan]:
        """An RNN, Transformers of each depth, and one that reads its own answers."""
        known, chosen = preset(self.settings.preset), self.settings
        length = chosen.length or known.recipe.length
        steps = chosen.steps or known.recipe.steps
        recipe = replace(
            known.recipe,
            length=length,
            steps=steps,
            warmup=min(known.recipe.warmup, steps),
            every=min(known.recipe.every, steps),
        )
        shape = replace(
            known.transformer,
            width=chosen.width or known.transformer.width,
            positions=chosen.known_positions or known.transformer.positions,
        )
        deepest = chosen.layers or known.deepest
        own = replace(known, deepest=deepest, transformer=shape, recipe=recipe)
        deep = {
            f"gpt{depth}": Plan(f"depth {depth}", *own.of_depth(depth), depth)
            for depth in range(1, deepest + 1)
        }
        recurrent = Plan("RNN", own.recurrent, recipe)
        return {"rnn": recurrent, **deep, "blocks": Plan("block CoT", *own.in_blocks())}

    @property
    def length(self) -> int:
        """How many letters the words have that are measured."""
        return self.plans()["rnn"].recipe.length

    def derive(self, report: Progress) -> "DerivedBeliefs | str":
        """The compiled network, or why there is none."""
        report("proving", 0, 1)
        try:
            if self.task.process.window is not None:
                raise KrohnError(
                    "the exact network of prompts is large, and krohn compile makes it; "
                    "the row in context is what a compiled network says that learns there"
                )
            return derive_beliefs(self.task, self.length)
        except KrohnError as error:
            return f"There is no compiled network to compare with: {error}"
        finally:
            report("proving", 1, 1)

    def result(
        self,
        derived: "DerivedBeliefs | str",
        trained: Sequence[Trained],
        sitting: Sitting,
    ) -> BeliefComparison:
        """The compiled network, rules, and trained networks beside the exact filter."""
        task, length = self.task, self.length
        proved = None if isinstance(derived, str) else derived
        groups = [[x for x in trained if x.key == key] for key in self.plans()]
        network = None if proved is None else proved.network
        models = {group[0].key: _model(group) for group in groups if group}
        return BeliefComparison(
            name=task.source.name,
            task=_question(task),
            states=len(task.process.entries),
            letters=len(task.letters),
            probabilities=task.probabilities,
            length=length,
            preset=self.settings.preset,
            proved=None if proved is None else proved.proof,
            models=(
                *([proved.model] if proved else ()),
                *rules(task, length),
                *models.values(),
            ),
            geometry=_geometry(task, length, network, models, trained),
            origin=sitting.origin([derived] if isinstance(derived, str) else ()),
            window=task.process.window,
        )


def _about(shape: Architecture, recipe: Recipe) -> str:
    assert isinstance(recipe, BeliefRecipe)
    stages = ", ".join(map(str, recipe.stages)) or str(recipe.length)
    fed = f"; reads its own answer after every {recipe.block} letters"
    return f"{shape.description}; words of {stages} letters" + fed * bool(recipe.block)


def _model(group: Sequence[Trained]) -> BeliefModel:
    """The networks of one kind."""
    plan, first = group[0].plan, group[0].measured
    about = _about(plan.architecture, plan.recipe)
    ones = tuple(map(_seed, group))
    return BeliefModel(
        group[0].key, plan.title, about, plan.depth, first.parameters, ones
    )


def _seed(network: Trained) -> BeliefSeed:
    measured, history = network.measured, network.result.record["history"]
    errors = [tuple(point["errors"]) for point in history]
    since = fit(errors, THRESHOLDS[0]).since
    return BeliefSeed(
        network.seed,
        measured.scores,
        since,
        measured.probes,
        measured.moved,
        network.training,
    )


@dataclass(frozen=True)
class DerivedBeliefs:
    """A network that was compiled and proved.

    Attributes:
        model: Its measurements.
        proof: What is proved.
        network: It, ready to run.
    """

    model: BeliefModel
    proof: BeliefProof
    network: Compiled


def derive_beliefs(task: BeliefTask, length: int) -> DerivedBeliefs:
    """A network that is compiled and proved for the length of training.

    If no finite machine has the beliefs, it is one that is never off by more than 0.05.

    Raises:
        KrohnError: If none can be proved.
    """
    source = task.source
    try:
        compiled_model = compile_source(source, length)
    except KrohnError:
        if not task.process.approximable:
            raise
        compiled_model = compile_source(source, length, within=THRESHOLDS[0])
    network, shown = wrap_compiled(compiled_model.file), compiled_model.proof
    proof = BeliefProof(
        "undecided" if shown is None else shown.verdict,
        f"{shown.proved or shown.reason}" if shown else "no proof was asked for",
        compiled_model.file.claim.error,
        length,
        compiled_model.construction,
        compiled_model.file.precision.name,
        compiled_model.seconds,
    )
    beliefs = BeliefTask(task.source)
    belief_scores = scores(
        lambda w: _beliefs(network, task, w), task, length, MEASURED, WORDS
    )
    one = BeliefSeed(
        None,
        belief_scores,
        probes=layer_probes(network, beliefs, length, PROBED),
        moved=attention_moved(network, beliefs, length, PROBED),
    )
    size = cost(network, length).parameters
    about = f"{compiled_model.construction}, {proof.dtype}"
    model = BeliefModel("compiled", "compiled", about, None, size, (one,))
    return DerivedBeliefs(model, proof, network)


def _beliefs(network: Compiled, task: BeliefTask, words: Any) -> Any:
    """The beliefs that a compiled network says, or the law of the next letter by them."""
    import torch

    with torch.no_grad():
        beliefs = network(torch.from_numpy(words)).double().numpy()
    if beliefs.shape[-1] != len(BeliefTask(task.source).classes):
        raise KrohnError(f"the network of {task.source.name} does not say beliefs")
    return task.of_beliefs(beliefs)


def rules(task: BeliefTask, length: int) -> list[BeliefModel]:
    """The exact filter, and the best n-gram."""
    window = best_window(task, COUNTED, length, TOKENS)
    exact = BeliefTask(task.source)
    reads = f"the mean after the last {window.orders[-1]} letters"

    def filter_words(words: Any) -> Any:
        return task.of_beliefs(exact.label(words).truth)

    answerers: list[tuple[str, str, str, Answers]] = [
        ("exact", "exact filter", "Bayes' rule in float64", filter_words),
        ("ngram", "n-gram", reads, window),
        *_learner_in_context(task, length),
    ]
    return [
        BeliefModel(
            key,
            title,
            about,
            None,
            None,
            (BeliefSeed(None, scores(answers, task, length, MEASURED, WORDS)),),
        )
        for key, title, about, answers in answerers
    ]


def _learner_in_context(
    task: BeliefTask, length: int
) -> Iterator[tuple[str, str, str, Answers]]:
    """What a compiled network that learns in context says of prompts, if there is one."""
    learner, window = part("learner in context"), task.process.window
    if learner is None or window is None or task.asks != "next":
        return
    letters = len(task.letters) - 1
    about = f"InContext{letters},{window}, a network for each number of demonstrations"
    with suppress(KrohnError):  # there are none of these sizes
        learner(letters, window, np.zeros((1, length), np.int64))
        yield "context", "in context", about, partial(learner, letters, window)


# From a hidden Markov model or a linear system to a comparison.


SHOWN = 400
"""Beliefs of a triangle."""


def _question(task: BeliefTask) -> str:
    if task.asks == "next":
        after = "" if task.after is None else " where it comes after " + task.after[0]
        return f"the law of the next letter{after}"
    return (
        "the belief b_t after every letter" if task.probabilities else "the vector b_t"
    )


def _geometry(
    task: BeliefTask,
    length: int,
    network: Network | None,
    models: Mapping[str, BeliefModel],
    trained: Sequence[Trained],
) -> tuple[Geometry, ...]:
    """Beliefs in a triangle: of the compiled network, the RNN, the deepest Transformer."""
    if len(BeliefTask(task.source).classes) != 3 or not task.probabilities:
        return ()
    shown = [("compiled", network)] if network is not None else []
    deepest = max((model.depth or 0 for model in models.values()), default=0)
    for key in ("rnn", f"gpt{deepest}"):
        group = [network for network in trained if network.key == key]
        if group:
            best = min(group, key=lambda each: each.measured.scores.error)
            title = f"{best.plan.title}, seed {best.seed}"
            shown.append((title, best.result.run().network))
    return tuple(triangle(title, task, length, each) for title, each in shown)


def triangle(
    title: str, task: BeliefTask, length: int, network: Network, most: int = SHOWN
) -> Geometry:
    """Beliefs of fresh words, and as read after the last layer, so many at most."""
    exact, estimated = read_beliefs(network, task, length, PROBED)
    points = [tuple(map(tuple, x[:most].round(4).tolist())) for x in (exact, estimated)]
    return Geometry(title, points[0], points[1])
