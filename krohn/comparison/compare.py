"""From a machine to a comparison: derive, train, measure, search, look inside."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np

from algebra.automaton import Automaton
from algebra.formats import Complete, json_format
from compare.measures.baselines import Baseline, baselines
from compare.measures.failing import EACH
from compare.models.architecture import Positions
from compare.tasks.catalogue import names, task
from compare.tasks.task import Task
from compare.training.cells import Cell
from compare.training.provenance import commit, device_name, provenance, versions
from krohn.comparison.contestants import COMPILED, GPT, MAJORITY, NGRAM
from krohn.comparison.contests import Entry, Team, strategies, sweeps, trained_spans
from krohn.comparison.derived import Derived, derive
from krohn.comparison.measured import first_failure, measure
from krohn.comparison.networks import Trained, cells, train_all, trained_teams
from krohn.comparison.result import Comparison, Origin
from krohn.comparison.settings import Settings, check, lengths_of
from krohn.job import Progress
from krohn.sources import read

RULES = {NGRAM: "n-gram", MAJORITY: "majority"}
"""Baselines that are shown, by what `compare.measures.baselines` calls them."""


def named_task(source: Automaton | str | Path, complete: Complete = "reject") -> Task:
    """The task of a machine, or one of the thesis by name.

    Args:
        source: What names it.
        complete: What to do with missing transitions of a file.

    Raises:
        KrohnError: If nothing has this name.
    """
    if isinstance(source, str) and source in names():
        return task(source)
    return task(source if isinstance(source, Automaton) else read(source, complete))


def compare(
    machine: Automaton | str | Path,
    preset: str = "desk",
    *,
    depth: int | None = None,
    seeds: int = 2,
    length: int | None = None,
    positions: str | None = None,
    jobs: int = 2,
    device: str = "cpu",
    runs: str | Path | None = None,
    seconds: float | None = None,
    steps: int | None = None,
    width: int | None = None,
    complete: Complete = "reject",
    command: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Derive a network for a machine, train others, and set them side by side.

    Args:
        machine: An automaton, a name of the zoo, a file, ``regex:…``, or a task of the
            thesis by name (`compare.tasks.catalogue.names`).
        preset: Sizes and recipes: ``"desk"`` or ``"paper"`` (docs/compare.md).
        depth: Layers of the Transformer that is trained; None for the preset's.
        seeds: How many networks of each kind.
        length: Letters in the words that are trained on; None for those of the preset.
        positions: How the Transformer knows where a letter is; None for the preset's.
        jobs: How many networks are trained side by side.
        device: Where torch computes.
        runs: The folder of runs, which go on where they were interrupted; None keeps
            nothing.
        seconds: After so many no further training is begun.
        steps: Of training; None for those of the preset.
        width: Of the Transformer; None for that of the preset.
        complete: What to do with missing transitions of a file.
        command: What does it again; None for a call of this function.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If there is no such machine or preset, a number makes no sense,
            nothing can be certified, or a run is interrupted.
    """
    settings = Settings(
        preset,
        depth,
        seeds,
        length,
        cast("Positions | None", positions),
        jobs,
        device,
        None if runs is None else Path(runs),
        seconds,
        steps,
        width,
    )
    asked = named_task(machine, complete)
    told = progress or (lambda what, done, total: None)
    again = command or f"krohn.compare({asked.name!r}, preset={preset!r}, …)"
    with _folder(settings.runs) as folder:
        return _compared(asked, settings, folder, again, told)


def _compared(
    asked: Task, settings: Settings, folder: Path, command: str, told: Progress
) -> Comparison:
    began = time.monotonic()
    check(asked)
    wanted = cells(asked, settings)
    trained_on = wanted[GPT][0].recipe.length
    lengths = [n for n in lengths_of(trained_on) if n >= trained_on]
    derived = derive(asked, lengths, partial(told, "proving"))
    trained = train_all(wanted, settings, folder, command, told)
    remarks = filter(None, (derived.remark, _missing(wanted, trained)))
    told("measuring", 0, 3)
    teams = (
        _compiled_team(derived, asked, trained_on),
        *trained_teams(trained),
        *_rules(asked, trained_on),
    )
    letter = _letter(teams)
    proved = derived.proved
    return Comparison(
        json_format.to_object(asked.machine),
        _asked(asked),
        asked.inputs.said,
        len(asked.classes),
        trained_on,
        settings.preset,
        proved,
        tuple(team.contestant() for team in teams),
        sweeps(
            teams,
            trained_on,
            trained_spans(asked, trained_on, letter),
            proved.length,
        ),
        strategies(teams, EACH),
        (),
        None,
        (),
        _origin(settings, command, time.monotonic() - began, tuple(remarks)),
    )


def _missing(wanted: Mapping[str, Sequence[Cell]], trained: Sequence[Trained]) -> str:
    """Which networks there was no time for; empty if there are all."""
    done = {t.result.cell.name for t in trained}
    cells = [cell for group in wanted.values() for cell in group]
    said = [cell.said for cell in cells if cell.name not in done]
    if not said:
        return ""
    return f"The time was up before these were trained: {'; '.join(said)}."


def _compiled_team(derived: Derived, asked: Task, length: int) -> Team:
    measured = measure(derived.model, asked, length)
    failure = first_failure(derived.model, asked, length)
    shape = derived.proved
    about = f"construction {shape.construction}, in {shape.dtype}"
    return Team(COMPILED, "compiled", about, (Entry(None, measured, failure),), None)


def _rules(asked: Task, length: int) -> tuple[Team, ...]:
    """What needs no learning, to set numbers beside."""
    known = {b.name: b for b in baselines(asked, np.random.default_rng(0), length)}
    return tuple(
        Team(
            key,
            name,
            known[name].about,
            (Entry(None, measure(known[name].model, asked, length)),),
        )
        for key, name in RULES.items()
    )


def _rule(rule: Baseline, asked: Task, length: int) -> Entry:
    return Entry(None, measure(rule.model, asked, length))


def _letter(teams: Sequence[Team]) -> str | None:
    curve = teams[0].entries[0].measured.curves.get("bias")
    return None if curve is None else curve.letter


def _asked(asked: Task) -> str:
    what = "output" if asked.shows == "outputs" else "state"
    after = "every letter" if asked.asked is None else ", ".join(asked.asked)
    return f"the {what} of {asked.machine.name} after {after}"


def _origin(
    settings: Settings, command: str, seconds: float, remarks: tuple[str, ...]
) -> Origin:
    found = provenance(command, settings.device, seconds)
    return Origin(
        command,
        commit() or "",
        versions(),
        device_name(settings.device),
        str(found["date"]),
        seconds,
        tuple(range(settings.seeds)),
        remarks,
    )


@contextmanager
def _folder(runs: Path | None) -> Iterator[Path]:
    """The folder of the runs; one that goes afterwards if none is named."""
    if runs is not None:
        yield runs
        return
    with TemporaryDirectory(prefix="krohn-") as folder:
        yield Path(folder)
