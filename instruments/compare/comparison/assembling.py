"""The steps of a comparison: derive, train, measure, search, look inside."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from krohn.algebra.formats import json_format
from krohn.instruments.compare.comparison.derived import (
    Derived,
    derive,
)
from krohn.instruments.compare.comparison.measurements import (
    MeasuredModel,
    Settings,
    lengths_of,
)
from krohn.instruments.compare.comparison.models import (
    TITLES,
    affordable,
    best,
    measured_models,
    opened,
    reductions,
    sized,
)
from krohn.instruments.compare.comparison.result import (
    COMPILED,
    GPT,
    AttentionMap,
    AttentionMaps,
    Comparison,
    Origin,
    ProbeResult,
)
from krohn.instruments.compare.comparison.sweeps import (
    strategies,
    sweeps,
    trained_spans,
)
from krohn.instruments.compare.comparison.trained_networks import (
    TrainedNetwork,
    cells,
    check_buildable,
    in_turn,
    job_of,
    train_all,
)
from krohn.instruments.compare.measures.first_failures import EACH
from krohn.instruments.compare.models import (
    Compiled,
    Network,
    compiled,
)
from krohn.instruments.compare.probes.attention_landmarks import (
    AttentionComparison,
    Head,
    attended,
    heads,
)
from krohn.instruments.compare.tasks.letters import Default
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.provenance import (
    commit,
    device_name,
    versions,
)
from krohn.instruments.compare.training.run import Cell
from krohn.instruments.compare.training.sweep import cost_of
from krohn.report import Announce, Progress

# The attention of compiled heads and of trained ones, on one word that both read.


MOST_HEADS = 16
"""So many of each network are shown, from the first layer on."""
START = (
    "Alike patterns alone do not show that two networks compute in the same way. "
    "Trained networks have no start symbol, so the weight of compiled heads on it is "
    "left out."
)


def attention_maps(
    task: Task, length: int, compiled: Compiled, trained: Network | None
) -> AttentionMaps | None:
    """The patterns of two networks on a word of the task.

    Args:
        task: Whose words they read.
        length: Of the word.
        compiled: The derived network.
        trained: The other one; None if there is none.

    Returns:
        None if there are no heads to show.
    """
    word = task.inputs.draw(task.machine, np.random.default_rng(0), 1, length)
    shown = list(_compiled(heads(compiled, word)))
    if trained is not None:
        like = attended(trained, task, [compiled], length)
        shown += _trained(heads(trained, word), like)
    if not shown:
        return None
    named = tuple(task.letters[a] for a in word[0])
    return AttentionMaps(named, tuple(shown), (START,))


def _compiled(found: Sequence[Head]) -> Iterator[AttentionMap]:
    for head in found[:MOST_HEADS]:
        yield AttentionMap(COMPILED, head.title, _rows(head))


def _trained(
    found: Sequence[Head], like: AttentionComparison
) -> Iterator[AttentionMap]:
    most = {one.head: one for one in like.likenesses}
    points = {one.head: one for one in like.pointings}
    for head in found[:MOST_HEADS]:
        said = []
        if point := points.get(head.title):
            said.append(
                f"{point.weight:.2f} on {point.landmark} (uniform: {point.uniform:.2f})"
            )
        if one := most.get(head.title):
            said.append(
                f"{one.similarity:.2f} like {one.compiled} (uniform: {one.uniform:.2f}, "
                f"other words: {one.elsewhere:.2f})"
            )
        yield AttentionMap(GPT, head.title, _rows(head), "; ".join(said))


def _rows(head: Head) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, head.pattern[0].round(4).tolist()))


# The steps of a comparison: derive, train, measure, search, look inside.


STAGES = 3


def assemble(
    task: Task,
    settings: Settings,
    folder: Path,
    command: str,
    told: Progress,
    announce: Announce | None = None,
) -> Comparison:
    """All that a comparison is, step by step.

    Args:
        task: What is asked of every network.
        settings: What the user chose.
        folder: Of the runs.
        command: What does it again.
        told: Called with what is being done, how much is done, and of how much.
        announce: Called with the cost of training, before anything is proved or trained.

    Raises:
        KrohnError: If nothing can be certified or trained, or a run is interrupted.
    """
    began = time.monotonic()
    wanted = cells(task, settings)
    check_buildable(wanted)
    if announce is not None:
        announce(cost_of(job_of(settings, folder, command), in_turn(wanted)))
    length = wanted[GPT][0].recipe.length
    lengths = [n for n in lengths_of(length) if n >= length]
    derived = derive(task, lengths, partial(told, "proving"))
    trained = train_all(wanted, settings, folder, command, told)
    share, found = _measured(task, derived, trained, length, settings, told)
    remarks = (
        task.machine.remark,
        derived.remark,
        _fewer(share),
        _missing(wanted, trained),
    )
    seconds = time.monotonic() - began
    return Comparison(
        machine={**json_format.to_object(task.machine)},
        task=_question(task),
        inputs=_inputs(task),
        classes=len(task.classes),
        length=length,
        preset=settings.preset,
        proved=derived.proved,
        reductions=reductions(task, wanted),
        origin=origin(settings, command, seconds, tuple(filter(None, remarks))),
        **found,
    )


def _measured(
    task: Task,
    derived: Derived,
    trained: Sequence[TrainedNetwork],
    length: int,
    settings: Settings,
    told: Progress,
) -> tuple[float, dict[str, Any]]:
    """The share of words on which networks were measured, and parts of a `Comparison`."""
    told("measuring", 0, STAGES)
    network = compiled(derived.file)
    share = affordable(network, length)
    models = measured_models(derived, trained, task, length, share)
    told("measuring", 1, STAGES)
    chosen = best(trained)
    networks = opened(network, chosen, settings.device)
    models = sized(models, networks, length)
    told("measuring", 2, STAGES)
    maps = attention_maps(task, length, network, networks.get(GPT))
    spans = trained_spans(task, length, _letter(models))
    told("measuring", STAGES, STAGES)
    return share, {
        "contestants": tuple(model.result() for model in models),
        "sweeps": sweeps(models, length, spans, derived.proved.length),
        "strategies": strategies(models, EACH),
        "probes": tuple(
            ProbeResult(k, TITLES[k], one.probed) for k, one in chosen.items()
        ),
        "maps": maps,
    }


def _fewer(share: float) -> str:
    """That the compiled network was run on fewer words; empty if it was not."""
    if share == 1:
        return ""
    return (
        f"The compiled network is large: it was run on {share:.1%} of the words that "
        "the others were run on. Its proof does not rest on these runs."
    )


def _missing(
    wanted: Mapping[str, Sequence[Cell]], trained: Sequence[TrainedNetwork]
) -> str:
    """Which networks there was no time for; empty if there are all."""
    done = {t.result.cell.name for t in trained}
    asked = [cell for group in wanted.values() for cell in group]
    said = [cell.description for cell in asked if cell.name not in done]
    if not said:
        return ""
    return f"Not trained, because the time was up: {'; '.join(said)}."


def _letter(models: Sequence[MeasuredModel]) -> str | None:
    curve = models[0].seeds[0].measured.curves.get("bias")
    return None if curve is None else curve.letter


def _question(task: Task) -> str:
    what = "output" if task.shows == "outputs" else "state"
    after = "every letter" if task.asked is None else ", ".join(task.asked)
    return f"the {what} of {task.machine.name} after {after}"


def _inputs(task: Task) -> str:
    """Which words; those of a machine itself are not called so by who does not know."""
    if isinstance(task.inputs, Default):
        return "as the thesis draws them for its machines, for others uniform legal letters"
    return task.inputs.description


def origin(
    settings: Settings, command: str, seconds: float, remarks: tuple[str, ...]
) -> Origin:
    """How a comparison came about."""
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Origin(
        command,
        commit() or "",
        versions(),
        device_name(settings.device),
        date,
        seconds,
        tuple(range(settings.seeds)),
        remarks,
    )
