"""From a hidden Markov model or a linear system to a comparison, with its networks."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.compilation import compile as compile_source
from krohn.instruments.compare.comparison.assembling import origin
from krohn.instruments.compare.comparison.belief_result import (
    BeliefComparison,
    BeliefModel,
    BeliefProof,
    BeliefSeed,
    Geometry,
)
from krohn.instruments.compare.comparison.measurements import (
    Settings,
    run_folder,
)
from krohn.instruments.compare.comparison.result import (
    Training,
)
from krohn.instruments.compare.comparison.trained_networks import (
    ENDED,
    in_turn,
)
from krohn.instruments.compare.measures.baselines import TOKENS
from krohn.instruments.compare.measures.beliefs import (
    THRESHOLDS,
    BeliefScores,
    best_window,
    fit,
    scores,
)
from krohn.instruments.compare.models import (
    Architecture,
    Compiled,
    Network,
    compiled,
    cost,
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
from krohn.instruments.compare.training.provenance import usable
from krohn.instruments.compare.training.run import (
    Cell,
    Job,
    Run,
)
from krohn.instruments.compare.training.sweep import (
    Result,
    cost_of,
    sweep,
)
from krohn.program.results import from_object, to_object
from krohn.report import Announce, Progress, silent

# The networks of a comparison on a hidden Markov model: trained, compiled, and rules.


MEASURED, COUNTED, PROBED = 1 << 20, (1 << 20) + 1, (1 << 20) + 2
"""Seeds of the words that are measured, counted and probed; runs have small ones."""
WORDS = 1024


@dataclass(frozen=True)
class Looked:
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
    """Measure a network and return `Looked` as JSON; other processes call this."""
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


def cells_of(task: BeliefTask, settings: Settings) -> dict[str, list[Cell]]:
    """The networks that are to be trained, by model, a cell for each seed."""
    return {
        key: [Cell(task, shape, recipe, seed) for seed in range(settings.seeds)]
        for key, (_, _, shape, recipe) in plans(settings).items()
    }


def trained(
    task: BeliefTask,
    settings: Settings,
    folder: Path,
    command: str,
    told: Progress,
) -> list[tuple[BeliefModel, list[Result]]]:
    """Train what is not trained yet: each kind of network, with its results by seed.

    Raises:
        KrohnError: If training is interrupted, or fails.
    """
    chosen, cells = plans(settings), cells_of(task, settings)
    results = sweep(
        in_turn(cells),
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
    looked = [from_object(Looked, r.measured, "what was measured") for r in done]
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
        if not task.process.approximable:
            raise
        found = compile_source(source, length, within=THRESHOLDS[0])
    network, shown = compiled(found.file), found.proof
    proof = BeliefProof(
        "undecided" if shown is None else shown.verdict,
        f"{shown.proved or shown.reason}" if shown else "no proof was asked for",
        found.file.claim.error,
        length,
        found.construction,
        found.file.precision.name,
        found.seconds,
    )
    beliefs = BeliefTask(task.source)
    said = scores(lambda w: _beliefs(network, task, w), task, length, MEASURED, WORDS)
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

    def filtered(words: Any) -> Any:
        return task.of_beliefs(exact.label(words).truth)

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


# From a hidden Markov model or a linear system to a comparison.


SHOWN = 400
"""Beliefs of a triangle."""


def compare_beliefs(
    task: BeliefTask,
    settings: Settings,
    command: str | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> BeliefComparison:
    """Compile a network, train others, and set them beside the exact filter.

    Args:
        task: What is asked of every network.
        settings: What is trained, and how; `depth` is that of the deepest Transformer.
        command: What does it again; None for a call of `krohn.compare`.
        progress: Called with what is being done, how much is done, and of how much.
        announce: Called with the cost of training, before anything is proved or trained.

    Raises:
        KrohnError: If a number makes no sense, or training is interrupted.
    """
    began, told = time.monotonic(), progress or silent
    usable(settings.device)
    source, chosen = task.source, plans(settings)
    length = chosen["rnn"][3].length
    again = command or f"krohn.compare({source.name!r}, preset={settings.preset!r}, …)"
    remarks, models, proved, network = list[str](), list[BeliefModel](), None, None
    with run_folder(settings.runs) as folder:
        if announce is not None:
            job = Job(folder, look, settings.device, again)
            announce(cost_of(job, in_turn(cells_of(task, settings))))
        told("proving", 0, 1)
        try:
            model, proved, network = derived(task, length)
            models.append(model)
        except KrohnError as error:
            remarks.append(f"There is no compiled network to compare with: {error}")
        told("proving", 1, 1)
        found = trained(task, settings, folder, again, told)
        geometry = _geometry(task, length, network, found)
    models += [*rules(task, length), *(model for model, _ in found)]
    missing = {k: t for k, (t, *_) in chosen.items()}
    missing = {k: t for k, t in missing.items() if all(m.key != k for m in models)}
    if missing:
        names = "; ".join(missing.values())
        remarks.append(f"Not trained, because the time was up: {names}")
    return BeliefComparison(
        name=source.name,
        task=_question(task),
        states=len(BeliefTask(source).classes),
        letters=len(task.letters),
        probabilities=task.probabilities,
        length=length,
        preset=settings.preset,
        proved=proved,
        models=tuple(models),
        geometry=geometry,
        origin=origin(settings, again, time.monotonic() - began, tuple(remarks)),
    )


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
    found: Sequence[tuple[BeliefModel, list[Result]]],
) -> tuple[Geometry, ...]:
    """Beliefs in a triangle: of the compiled network, the RNN, the deepest Transformer."""
    if len(BeliefTask(task.source).classes) != 3 or not task.probabilities:
        return ()
    shown = [("compiled", network)] if network is not None else []
    deepest = max((model.depth or 0 for model, _ in found), default=0)
    for model, results in found:
        if model.key in ("rnn", f"gpt{deepest}"):
            errors = [one.scores.error for one in model.ones]
            best = results[errors.index(min(errors))]
            title = f"{model.title}, seed {best.cell.seed}"
            shown.append((title, best.run().network))
    return tuple(triangle(title, task, length, each) for title, each in shown)


def triangle(
    title: str, task: BeliefTask, length: int, network: Network, most: int = SHOWN
) -> Geometry:
    """Beliefs of fresh words, and as read after the last layer, so many at most."""
    exact, said = read_beliefs(network, task, length, PROBED)
    points = [tuple(map(tuple, x[:most].round(4).tolist())) for x in (exact, said)]
    return Geometry(title, points[0], points[1])
