"""Who takes part: the compiled network, the trained ones, and rules to set beside them."""

from collections.abc import Mapping, Sequence

import numpy as np

from compare.measures.baselines import baselines
from compare.models import Network, cost
from compare.tasks.task import Task
from krohn.comparison.contestants import COMPILED, GPT, LSTM, MAJORITY, NGRAM, Size
from krohn.comparison.contests import Entry, Team
from krohn.comparison.derived import Derived
from krohn.comparison.measured import first_failure, measure
from krohn.comparison.networks import Trained

TITLES = {GPT: "Transformer", LSTM: "LSTM"}
RULES = {NGRAM: "n-gram", MAJORITY: "majority"}
"""Baselines that are shown, by what `compare.measures.baselines` calls them."""

MANY = 40_000
"""Words of the length of training, or as many letters, that a network is run on."""
OPERATIONS = 2e12
"""Multiplications and additions for all of them: two minutes on a busy core."""


def affordable(network: Network, length: int) -> float:
    """The share of the usual words that a network can be run on within `OPERATIONS`."""
    return min(1.0, OPERATIONS / (MANY * (cost(network, length).flops or 1)))


def compiled_team(derived: Derived, task: Task, length: int, share: float) -> Team:
    """The compiled network, measured like the others and searched for failing words.

    Args:
        derived: The network.
        task: What is asked of it.
        length: Of the words that others were trained on.
        share: Of the usual number of words.
    """
    entry = Entry(
        None,
        measure(derived.model, task, length, share),
        first_failure(derived.model, task, length, share),
    )
    proved = derived.proved
    about = (
        f"construction {proved.construction}, for words of up to {proved.length} "
        f"letters, {proved.dtype}"
    )
    return Team(COMPILED, "compiled", about, (entry,))


def trained_teams(trained: Sequence[Trained]) -> tuple[Team, ...]:
    """The networks of each kind that were trained."""
    teams = []
    for key, title in TITLES.items():
        group = [t for t in trained if t.key == key]
        if group:
            about = group[0].result.cell.architecture.said
            teams.append(Team(key, title, about, tuple(t.entry for t in group)))
    return tuple(teams)


def rule_teams(task: Task, length: int) -> tuple[Team, ...]:
    """What needs no learning."""
    known = {b.name: b for b in baselines(task, np.random.default_rng(0), length)}
    return tuple(
        Team(
            key,
            name,
            known[name].about,
            (Entry(None, measure(known[name].model, task, length)),),
        )
        for key, name in RULES.items()
    )


def best(trained: Sequence[Trained]) -> dict[str, Trained]:
    """The network of each kind with most right answers; of equals, the first seed."""
    found: dict[str, Trained] = {}
    for one in trained:
        known = found.get(one.key)
        if known is None or _right(one) > _right(known):
            found[one.key] = one
    return found


def _right(one: Trained) -> float:
    return one.entry.measured.token.value


def opened(
    derived: Network, chosen: Mapping[str, Trained], device: str
) -> dict[str, Network]:
    """The networks themselves, the compiled one first."""
    trained = {key: one.result.run(device).network for key, one in chosen.items()}
    return {COMPILED: derived.to(device), **trained}


def sized(teams: Sequence[Team], sizes: Mapping[str, Size]) -> tuple[Team, ...]:
    """The same with what they cost."""
    return tuple(
        Team(t.key, t.title, t.about, t.entries, sizes.get(t.key)) for t in teams
    )
