"""Sizes and recipes: the thesis's, and smaller ones for minutes on a desk.

``paper`` has the values of the thesis; values that it lacks are marked as ours. Ours
everywhere: gradients are clipped at norm 1, and simulation warms up and then decays
linearly (the thesis mentions the patience of a scheduler, and no more). ``desk`` is
smaller in every way; its numbers are ours.
"""

from dataclasses import replace
from typing import Literal, get_args

from krohn.algebra.errors import KrohnError
from krohn.compare.models import Gpt, Lstm
from krohn.compare.tasks import DyckPrefixes, FlipFlop
from krohn.compare.tasks.task import Task
from krohn.compare.training.recipe import Recipe

Name = Literal["desk", "paper"]
Family = Literal["simulation", "flip-flop", "brackets"]

GPT_RATES = (3e-5, 1e-4, 3e-4)
LSTM_RATES = (1e-3, 3e-3)
"""Rates that the thesis tries for simulation (section 3.4.5.3); the best counts."""

FURTHER = 4
"""Networks get positions for words so many times as long as those of training."""

DROPPED = ("D6", "D8", "Q8")
"""Dropout of 0.1 helps dihedral and quaternion groups, and hurts others (3.4.5.1.1)."""

_DESK = Recipe(4000, 64, 32, 1e-3, 100, stop_at=0.9999, every=200, probe=512)

_GPT: dict[tuple[Name, Family], tuple[Gpt, Recipe]] = {
    ("desk", "simulation"): (
        Gpt(width=64, heads=4, inner=256),
        _DESK,
    ),
    ("desk", "flip-flop"): (
        Gpt(width=64, heads=4, inner=256),
        Recipe(4000, 32, 128, 1e-3, weight_decay=0.1, average=0.0, every=500),
    ),
    ("desk", "brackets"): (
        Gpt(width=64, heads=1, inner=256, positions="linear"),
        Recipe(3000, 64, 28, rate=1e-3, weight_decay=0.0, average=0.0),
    ),
    # Section 3.4.5.3: width 512 inside and out, 8 heads, batches of 16, weight decay
    # 1e-4, and the middle one of the rates; T = 100 (3.4.2); average 0.9 (3.4.5.1.1).
    # A million words: the main text says that they are at most so many (E38).
    ("paper", "simulation"): (
        Gpt(width=512, heads=8, inner=512),
        Recipe(62_500, 16, 100, rate=1e-4, warmup=500, every=500, probe=2048),
    ),
    # Section 3.5.6.2: 19 million parameters, hence MLPs of 4 · 512; T = 512; all else
    # is stated. Evaluations every 100 steps.
    ("paper", "flip-flop"): (
        Gpt(depth=6, width=512, heads=8, inner=2048, positions="learned"),
        Recipe(10_000, 16, 512, 3e-4, weight_decay=0.1, average=0.0, probe=1000),
    ),
    # Section 3.6.3: 2 layers, width 50 inside and out, rate 3e-3, words of up to 28
    # letters, positions i/T; Adam has no decay. Ours: one head, batches and steps.
    ("paper", "brackets"): (
        Gpt(width=50, heads=1, inner=50, positions="linear"),
        Recipe(10_000, 64, 28, rate=3e-3, weight_decay=0.0, average=0.0),
    ),
}

_LSTM: dict[tuple[Name, Family], tuple[Lstm, Recipe]] = {
    ("desk", "simulation"): (
        Lstm(64, 128),
        replace(_DESK, rate=3e-3, weight_decay=1e-9),
    ),
    ("desk", "flip-flop"): (
        Lstm(64, 128),
        Recipe(1000, 32, 128, rate=3e-3, weight_decay=0.1, average=0.0),
    ),
    ("desk", "brackets"): (
        Lstm(64, 128),
        Recipe(2000, 64, 28, rate=3e-3, weight_decay=0.0, average=0.0),
    ),
    # Section 3.4.5.3: embedding 64, 128 units, weight decay 1e-9, batches of 64, and the
    # higher one of the rates; a million words as above.
    ("paper", "simulation"): (
        Lstm(64, 128),
        Recipe(15_625, 64, 100, 3e-3, 500, weight_decay=1e-9, every=500, probe=2048),
    ),
    # Section 3.5.6.2: 133 thousand parameters, hence an embedding of 128; 500 steps.
    ("paper", "flip-flop"): (
        Lstm(128, 128),
        Recipe(500, 16, 512, 3e-4, weight_decay=0.1, average=0.0, probe=1000),
    ),
    # Ours: the thesis trains no LSTM on brackets.
    ("paper", "brackets"): (
        Lstm(64, 128),
        Recipe(10_000, 64, 28, rate=3e-3, weight_decay=0.0, average=0.0),
    ),
}

OBSERVED = 40
"""Words under indirect supervision (section 3.4.5.2.1), and where networks are to go
beyond what they were trained on (3.4.5.2.3, 3.4.5.2.4), in the thesis."""


def gpt(
    name: str, task: Task, depth: int | None = None, length: int | None = None
) -> tuple[Gpt, Recipe]:
    """A Transformer and how it is trained.

    Args:
        name: ``"desk"`` or ``"paper"``.
        task: The task to be learnt.
        depth: Layers; None for 2, and for 6 on the flip-flop language of ``paper``.
        length: Letters in each word; None for the preset's.

    Raises:
        KrohnError: If there is no such preset, or a number makes no sense.
    """
    architecture, recipe = _GPT[_preset_name(name), family(task)]
    if depth is not None:
        architecture = replace(architecture, depth=depth)
    if name == "paper" and task.machine.name in DROPPED:
        architecture = replace(architecture, dropout=0.1)
    return architecture, _with_length(name, task, recipe, length)


def lstm(name: str, task: Task, length: int | None = None) -> tuple[Lstm, Recipe]:
    """An LSTM and how it is trained; arguments and errors as for `gpt`."""
    architecture, recipe = _LSTM[_preset_name(name), family(task)]
    return architecture, _with_length(name, task, recipe, length)


def family(task: Task) -> Family:
    """Which experiments of the thesis a task belongs to."""
    if isinstance(task.inputs, FlipFlop):
        return "flip-flop"
    return "brackets" if isinstance(task.inputs, DyckPrefixes) else "simulation"


def _preset_name(name: str) -> Name:
    known: tuple[Name, ...] = get_args(Name)
    for preset in known:
        if name == preset:
            return preset
    raise KrohnError(f"presets are {' and '.join(known)}, not {name!r}")


def _with_length(name: str, task: Task, recipe: Recipe, length: int | None) -> Recipe:
    if length is None:
        observed = name == "paper" and task.shows == "outputs"
        length = OBSERVED if observed else recipe.length
    return replace(recipe, length=length, longest=FURTHER * length)
