"""The steps of a comparison: derive, train, measure, search, look inside."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from algebra.formats import json_format
from compare.measures.first_failures import EACH
from compare.models import compiled
from compare.tasks.default import Default
from compare.tasks.task import Task
from compare.training.cells import Cell
from compare.training.provenance import commit, device_name, versions
from krohn.comparison.contestants import GPT
from krohn.comparison.contests import Team, strategies, sweeps, trained_spans
from krohn.comparison.costs import sizes
from krohn.comparison.derived import derive
from krohn.comparison.head_patterns import maps
from krohn.comparison.inside import Probed
from krohn.comparison.networks import Trained, cells, check_buildable, train_all
from krohn.comparison.reductions import reductions
from krohn.comparison.result import Comparison, Origin
from krohn.comparison.settings import Settings, lengths_of
from krohn.comparison.teams import (
    TITLES,
    affordable,
    best,
    compiled_team,
    opened,
    rule_teams,
    sized,
    trained_teams,
)
from krohn.verification_target import Progress

STAGES = 3


def assemble(
    task: Task, settings: Settings, folder: Path, command: str, told: Progress
) -> Comparison:
    """All that a comparison is, step by step.

    Args:
        task: What is asked of every network.
        settings: What the user chose.
        folder: Of the runs.
        command: What does it again.
        told: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If nothing can be certified or trained, or a run is interrupted.
    """
    began = time.monotonic()
    wanted = cells(task, settings)
    check_buildable(wanted)
    length = wanted[GPT][0].recipe.length
    lengths = [n for n in lengths_of(length) if n >= length]
    derived = derive(task, lengths, partial(told, "proving"))
    trained = train_all(wanted, settings, folder, command, told)
    told("measuring", 0, STAGES)
    derived_network = compiled(derived.file)
    share = affordable(derived_network, length)
    teams = (
        compiled_team(derived, task, length, share),
        *trained_teams(trained),
        *rule_teams(task, length),
    )
    told("measuring", 1, STAGES)
    chosen = best(trained)
    networks = opened(derived_network, chosen, settings.device)
    teams = sized(teams, sizes(networks, length))
    told("measuring", 2, STAGES)
    seen = maps(task, length, derived_network, networks.get(GPT))
    spans = trained_spans(task, length, _letter(teams))
    told("measuring", STAGES, STAGES)
    remarks = tuple(
        filter(
            None,
            (
                task.machine.remark,
                derived.remark,
                _fewer(share),
                _missing(wanted, trained),
            ),
        )
    )
    return Comparison(
        json_format.to_object(task.machine),
        _asked(task),
        _inputs(task),
        len(task.classes),
        length,
        settings.preset,
        derived.proved,
        tuple(team.contestant() for team in teams),
        sweeps(teams, length, spans, derived.proved.length),
        strategies(teams, EACH),
        tuple(Probed(k, TITLES[k], one.probed) for k, one in chosen.items()),
        seen,
        reductions(task, wanted),
        _origin(settings, command, time.monotonic() - began, remarks),
    )


def _fewer(share: float) -> str:
    """That the compiled network was run on fewer words; empty if it was not."""
    if share == 1:
        return ""
    return (
        f"The compiled network is large: it was run on {share:.1%} of the words that the "
        "others were run on. What is proved of it does not rest on them."
    )


def _missing(wanted: Mapping[str, Sequence[Cell]], trained: Sequence[Trained]) -> str:
    """Which networks there was no time for; empty if there are all."""
    done = {t.result.cell.name for t in trained}
    asked = [cell for group in wanted.values() for cell in group]
    said = [cell.said for cell in asked if cell.name not in done]
    if not said:
        return ""
    return f"The time was up before these were trained: {'; '.join(said)}."


def _letter(teams: Sequence[Team]) -> str | None:
    curve = teams[0].entries[0].measured.curves.get("bias")
    return None if curve is None else curve.letter


def _asked(task: Task) -> str:
    what = "output" if task.shows == "outputs" else "state"
    after = "every letter" if task.asked is None else ", ".join(task.asked)
    return f"the {what} of {task.machine.name} after {after}"


def _inputs(task: Task) -> str:
    """Which words; those of a machine itself are not called so by who does not know."""
    if isinstance(task.inputs, Default):
        return "as the thesis draws them for its machines, for others uniform legal letters"
    return task.inputs.said


def _origin(
    settings: Settings, command: str, seconds: float, remarks: tuple[str, ...]
) -> Origin:
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
