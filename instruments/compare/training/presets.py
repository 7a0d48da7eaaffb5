"""Sizes and recipes of networks, from papers and for a desk."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import takes
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
    RecurrentLayer,
    Rnn,
)
from krohn.instruments.compare.tasks import (
    DyckPrefixes,
    FlipFlop,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.beliefs import (
    BeliefRecipe,
    doubling,
)
from krohn.instruments.compare.training.recipe import (
    Recipe,
    Steadiness,
)

# Sizes and recipes: the thesis's, and smaller ones for minutes on a desk.
#
# ``paper`` has the values of the thesis; values that it lacks are marked as ours. Ours
# everywhere: gradients are clipped at norm 1, and simulation warms up and then decays
# linearly (the thesis mentions the patience of a scheduler, and no more). ``desk`` is
# smaller in every way; its numbers are ours.


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


PROVABLE = RecurrentLayer("lstm", 16)
"""An LSTM that can be proved if it learns its task (docs/architectures/gated.md); ours."""
_PROVABLE_RECIPE = Recipe(
    1000,
    32,
    24,
    rate=1e-2,
    warmup=100,
    betas=(0.9, 0.99),
    every=200,
    average=0.0,
    steadiness=Steadiness(1.0, start=0.5, rise=0.2, before=192, shortest=4),
)


def provable(
    task: Task, length: int | None = None, architecture: RecurrentLayer = PROVABLE
) -> tuple[RecurrentLayer, Recipe]:
    """A network that can be proved for words of every length, and how it is trained.

    It is alike in all presets.

    Args:
        task: The task to be learnt.
        length: Letters in each word; None for 24.
        architecture: The network.
    """
    return architecture, _with_length("desk", task, _PROVABLE_RECIPE, length)


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
    raise KrohnError(takes("--preset", known, name))


def _with_length(name: str, task: Task, recipe: Recipe, length: int | None) -> Recipe:
    if length is None:
        observed = name == "paper" and task.shows == "outputs"
        length = OBSERVED if observed else recipe.length
    return replace(recipe, length=length, longest=FURTHER * length)


# Sizes and recipes of networks that learn beliefs: the paper's, and small ones
# for a desk.
#
# ``paper`` is Hu et al. 2024, section 4.1 and App. C. It does not say the width of MLPs
# (ours: four times the width) nor how gradients are clipped (ours: norm 1); its batches
# are 256 to 1,024.
# ``desk`` is smaller in every way; its numbers are ours.


@dataclass(frozen=True)
class BeliefPreset:
    """The networks that are trained on a model, and how.

    Attributes:
        deepest: Transformers have 1 to so many blocks.
        transformer: One of them.
        recurrent: The recurrent network, which needs no depth.
        recipe: Of the recurrent network; Transformers have stages and blocks beside.
    """

    deepest: int
    transformer: Gpt
    recurrent: Rnn
    recipe: BeliefRecipe

    @property
    def block_depth(self) -> int:
        """Blocks of the Transformer with block chain of thought: about half of them."""
        return max(1, self.deepest // 2)

    def of_depth(self, depth: int) -> tuple[Gpt, BeliefRecipe]:
        """A Transformer, with the doubling curriculum."""
        stages = doubling(depth, self.recipe.length)
        shape = replace(self.transformer, depth=depth)
        return shape, replace(self.recipe, stages=stages)

    def in_blocks(self) -> tuple[Gpt, BeliefRecipe]:
        """The Transformer that reads its own answer after every 2^L letters.

        The paper takes b as about half of the length that the depth L fits, and has
        L = 3, b = 8.
        """
        shape, recipe = self.of_depth(self.block_depth)
        return shape, replace(recipe, block=2**self.block_depth)


PRESETS: dict[Name, BeliefPreset] = {
    "desk": BeliefPreset(
        4,
        Gpt(1, 32, 4, 128, positions="learned"),
        Rnn(64),
        BeliefRecipe(2000, 64, 16, 2e-3, 100, every=200),
    ),
    "paper": BeliefPreset(
        7,
        Gpt(1, 512, 8, 2048, positions="learned", dropout=0.1),
        Rnn(64),
        # 100 epochs of 5 million words in batches of 256; AdamW as PyTorch has it.
        BeliefRecipe(
            *(1_953_125, 256, 120, 1e-3, 4000, "halving"),
            weight_decay=0.01,
            average=0.0,
            every=19531,
        ),
    ),
}


def preset(name: str) -> BeliefPreset:
    """A preset by name.

    Raises:
        KrohnError: If there is none.
    """
    for known in get_args(Name):
        if name == known:
            belief_preset: BeliefPreset = PRESETS[known]
            return belief_preset
    raise KrohnError(takes("--preset", get_args(Name), name))
