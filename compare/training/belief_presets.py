"""Sizes and recipes of networks that learn beliefs: the paper's, and small ones for a desk.

``paper`` is Hu et al. 2024, section 4.1 and App. C. It does not say the width of MLPs
(ours: four times the width) nor how gradients are clipped (ours: norm 1), and it halves
the rate every 20 epochs, where ours falls linearly; its batches are 256 to 1,024.
``desk`` is smaller in every way; its numbers are ours.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from krohn.algebra.errors import KrohnError
from krohn.compare.models import Gpt, Rnn
from krohn.compare.training.beliefs import BeliefRecipe, doubling

Name = Literal["desk", "paper"]


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
            1_953_125, 256, 120, 1e-3, 4000, weight_decay=0.01, average=0.0, every=19531
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
            found: BeliefPreset = PRESETS[known]
            return found
    raise KrohnError(f"presets are {' and '.join(get_args(Name))}, not {name!r}")
