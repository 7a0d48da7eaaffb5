"""The networks of a comparison on a hidden Markov model: trained, compiled, and rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.compare.measures.belief_scores import BeliefScores, scores
from krohn.compare.measures.beliefs import THRESHOLDS, fit
from krohn.compare.measures.ngram import TOKENS
from krohn.compare.measures.windows import best_window
from krohn.compare.models import Architecture, Compiled, compiled, cost
from krohn.compare.probes.beliefs import LayerProbe, attention_moved, layer_probes
from krohn.compare.tasks.beliefs import BeliefTask
from krohn.compare.training.belief_presets import preset
from krohn.compare.training.beliefs import BeliefRecipe, outputs
from krohn.compare.training.cells import Cell
from krohn.compare.training.run import Run
from krohn.compare.training.sweep import Result, sweep
from krohn.comparison.belief_result import BeliefModel, BeliefProof, BeliefSeed
from krohn.comparison.json_values import read, to_object
from krohn.comparison.model_results import Training
from krohn.comparison.settings import Settings
from krohn.comparison.trained_networks import ENDED
from krohn.compilation import compile as compile_source
from krohn.progress import Progress
from krohn.sources.hidden_markov import HiddenMarkovModel

MEASURED, COUNTED, PROBED = 1 << 20, (1 << 20) + 1, (1 << 20) + 2
"""Seeds of the words that are measured, counted and probed; runs have small ones."""
WORDS = 1024


@dataclass(frozen=True)
class Looked:
    """What was found out about a network where it was trained.

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
    """What is found out about a network, as JSON: called in other processes."""
    task, network, length = run.task, run.network, run.recipe.length
    assert isinstance(task, BeliefTask)
    found = scores(
        lambda words: outputs(network, task, words), task, length, MEASURED, WORDS
    )
    probes = layer_probes(network, task, length, PROBED)
    moved = attention_moved(network, task, length, PROBED)
    return to_object(Looked(found, probes, moved, cost(network, length).parameters))


def plans(
    settings: Settings,
) -> dict[str, tuple[str, int | None, Architecture, BeliefRecipe]]:
    """By key: title, depth, architecture and recipe, with what a user changed.

    Raises:
        KrohnError: If there is no such preset, or a number makes no sense.
    """
    found = preset(settings.preset)
    length = settings.length or found.recipe.length
    steps = settings.steps or found.recipe.steps
    recipe = replace(
        found.recipe,
        length=length,
        steps=steps,
        warmup=min(found.recipe.warmup, steps),
        every=min(found.recipe.every, steps),
    )
    shape = replace(
        found.transformer,
        width=settings.width or found.transformer.width,
        positions=settings.known or found.transformer.positions,
    )
    deepest = settings.depth or found.deepest
    own = replace(found, deepest=deepest, transformer=shape, recipe=recipe)
    all_plans: dict[str, tuple[str, int | None, Architecture, BeliefRecipe]] = {
        "rnn": ("RNN", None, own.recurrent, recipe)
    }
    for depth in range(1, deepest + 1):
        all_plans[f"gpt{depth}"] = (
            f"depth {depth}",
            depth,
            *own.of_depth(depth),
        )
    all_plans["blocks"] = ("block CoT", None, *own.in_blocks())
    return all_plans


def trained(
    task: BeliefTask, settings: Settings, folder: Path, command: str, told: Progress
) -> list[tuple[BeliefModel, list[Result]]]:
    """Train what is not trained yet: each kind of network, with its results by seed.

    Raises:
        KrohnError: If training is interrupted, or fails.
    """
    chosen = plans(settings)
    cells = {
        key: [Cell(task, shape, recipe, seed) for seed in range(settings.seeds)]
        for key, (_, _, shape, recipe) in chosen.items()
    }
    in_turn = [cell for group in zip(*cells.values(), strict=True) for cell in group]
    results = sweep(
        in_turn,
        folder,
        look,
        settings.jobs,
        seconds=settings.seconds,
        device=settings.device,
        command=command,
        report=told,
    )
    by_name = {r.cell.name: r for r in results}
    models = []
    for key, (title, depth, shape, recipe) in chosen.items():
        done = [by_name[c.name] for c in cells[key] if c.name in by_name]
        if done:
            about = _about(shape, recipe)
            models.append((_model(key, title, about, depth, done), done))
    return models


def _about(shape: Architecture, recipe: BeliefRecipe) -> str:
    stages = ", ".join(map(str, recipe.stages)) or str(recipe.length)
    fed = f"; reads its own answer after every {recipe.block} letters"
    return f"{shape.description}; words of {stages} letters" + fed * bool(recipe.block)


def _model(
    key: str, title: str, about: str, depth: int | None, done: Sequence[Result]
) -> BeliefModel:
    looked = [read(Looked, r.measured, "what was measured") for r in done]
    ones = tuple(_seed(r, found) for r, found in zip(done, looked, strict=True))
    return BeliefModel(key, title, about, depth, looked[0].parameters, ones)


def _seed(result: Result, found: Looked) -> BeliefSeed:
    history: list[Mapping[str, Any]] = result.record["history"]
    errors = [tuple(point["errors"]) for point in history]
    training = Training(
        tuple(point["step"] for point in history),
        tuple(point["loss"] for point in history),
        tuple(point["accuracy"] for point in history),
        history[-1]["seconds"],
        ENDED[result.record["outcome"]].format(steps=result.record["steps"]),
    )
    since = fit(errors, 0.05).since
    return BeliefSeed(
        result.cell.seed, found.scores, since, found.probes, found.moved, training
    )


def derived(task: BeliefTask, length: int) -> tuple[BeliefModel, BeliefProof, Compiled]:
    """A network that is compiled and proved for the length of training.

    If no finite machine has the beliefs, it is one that is never off by more than 0.05.

    Raises:
        KrohnError: If none can be proved.
    """
    source = task.source
    try:
        found = compile_source(source, length)
    except KrohnError:
        if not isinstance(source, HiddenMarkovModel):
            raise
        found = compile_source(source, length, within=THRESHOLDS[0])
    claim, network = found.file.header["claim"], compiled(found.file)
    proof = BeliefProof(
        "undecided" if found.proof is None else found.proof.verdict,
        float(claim.get("error", 0.0)),
        length,
        found.construction,
        found.file.precision.name,
        found.seconds,
    )
    beliefs = BeliefTask(task.source)
    said = scores(lambda w: _said(network, task, w), task, length, MEASURED, WORDS)
    one = BeliefSeed(
        None,
        said,
        probes=layer_probes(network, beliefs, length, PROBED),
        moved=attention_moved(network, beliefs, length, PROBED),
    )
    size = cost(network, length).parameters
    about = f"{found.construction}, {proof.dtype}"
    return (
        BeliefModel("compiled", "compiled", about, None, size, (one,)),
        proof,
        network,
    )


def _said(network: Compiled, task: BeliefTask, words: Any) -> Any:
    """The beliefs that a compiled network says, or the law of the next letter by them."""
    import torch

    with torch.no_grad():
        beliefs = network(torch.from_numpy(words)).double().numpy()
    if beliefs.shape[-1] != len(BeliefTask(task.source).classes):
        raise KrohnError(f"the network of {task.source.name} does not say beliefs")
    if task.asks == "next":
        assert isinstance(task.source, HiddenMarkovModel)
        return task.source.predict(beliefs)
    return beliefs


def rules(task: BeliefTask, length: int) -> list[BeliefModel]:
    """The exact filter, and the best n-gram."""
    window = best_window(task, COUNTED, length, TOKENS)
    exact = BeliefTask(task.source)
    reads = f"the mean after the last {window.orders[-1]} letters"

    def filtered(words: Any) -> Any:
        beliefs = exact.label(words).truth
        if task.asks == "next" and isinstance(task.source, HiddenMarkovModel):
            return task.source.predict(beliefs)
        return beliefs

    both = (
        ("exact", "exact filter", "Bayes' rule in float64", filtered),
        ("ngram", "n-gram", reads, window),
    )
    return [
        BeliefModel(
            key,
            title,
            about,
            None,
            None,
            (BeliefSeed(None, scores(answers, task, length, MEASURED, WORDS)),),
        )
        for key, title, about, answers in both
    ]
