"""Greedy decoding of texts by networks that are trained, and what counts as right."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.measures.accuracy import (
    BLANK,
    greedy,
    text_scores,
)
from krohn.instruments.compare.models import (
    EfficientGpt,
    Gpt,
    Lstm,
    Network,
    Specification,
)
from krohn.instruments.compare.tasks.public_texts import EditDistances
from krohn.instruments.compare.tasks.texts import (
    Steps,
    TextTask,
)
from krohn.instruments.compare.training import (
    Recipe,
    train,
)

pytest.importorskip("transformers")
TASK = TextTask(Steps("LIS2:most=3"))


class Knows(Network):
    """Says the next token of the right text, or another one at some places.

    Attributes:
        wrong: Where it errs, in tokens from the start of a text.
    """

    def __init__(self, task: TextTask, wrong: tuple[int, ...] = ()) -> None:
        super().__init__(
            Specification(Lstm(), len(task.letters), len(task.letters), 99)
        )
        self.free = torch.nn.Parameter(torch.zeros(1))
        self.task, self.wrong = task, wrong

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        read = letters if memory is None else torch.cat([memory, letters], dim=1)
        chain, t = self.task.texts.chain.source, read.shape[1]  # type: ignore[attr-defined]
        prompt = read[:, : len(chain.prompt)].numpy()
        said = torch.tensor(chain.continue_prompts(prompt))[:, t]
        said = (said + (t in self.wrong)) % len(self.task.letters)
        logits = torch.nn.functional.one_hot(said, len(self.task.letters)).float()
        return logits[:, None], read


def test_who_knows_the_text_writes_it() -> None:
    texts = TASK.texts.draw(np.random.default_rng(0), 20)
    blank = np.where(TASK.in_continuation(texts), BLANK, texts)
    assert (greedy(Knows(TASK), blank) == texts).all()
    assert text_scores(Knows(TASK), TASK, np.random.default_rng(0), 20).texts == 20


def test_a_wrong_step_spoils_a_text_and_a_wrong_answer_both() -> None:
    chain = TASK.texts.chain.source  # type: ignore[attr-defined]
    step, answer = len(chain.prompt), chain.answer - 1
    found = text_scores(Knows(TASK, (step,)), TASK, np.random.default_rng(0), 20)
    assert (found.texts, found.answers) == (0, 20)
    found = text_scores(Knows(TASK, (answer,)), TASK, np.random.default_rng(0), 20)
    assert (found.texts, found.answers) == (0, 0)
    late = text_scores(
        Knows(TASK, (chain.length - 1,)), TASK, np.random.default_rng(0), 9
    )
    assert (late.texts, late.answers) == (0, 0)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["standard", "linear", "sparse"])
def test_networks_learn_a_small_text(kind: str) -> None:
    shape = {"depth": 1, "width": 16, "heads": 2, "inner": 32, "positions": "learned"}
    model = (
        Gpt(**shape) if kind == "standard" else EfficientGpt(**shape, attention=kind)
    )  # type: ignore[arg-type]
    recipe = Recipe(200, 32, TASK.length, 1e-2, 20, stop_at=0.999, every=50)
    run = train(TASK, model, recipe, 0)
    found = text_scores(run.network, TASK, np.random.default_rng(9), 200)
    assert found.answers >= found.texts > 150


def test_texts_of_several_lengths_end_where_they_end() -> None:
    task = TextTask(EditDistances(4))
    shape = Gpt(1, 8, 2, 8, positions="learned")
    run = train(task, shape, Recipe(2, 4, task.length, every=2, probe=8), 0)
    found = text_scores(run.network, task, np.random.default_rng(0), 5)
    assert found.texts <= found.answers <= 5


def test_recipes_that_are_for_other_tasks() -> None:
    with pytest.raises(KrohnError, match="steps in them"):
        train(TASK, Gpt(1, 8, 2, 8), Recipe(length=TASK.length, scratchpad=True), 0)
    with pytest.raises(KrohnError, match="are read to"):
        train(TASK, Gpt(1, 8, 2, 8), Recipe(steps=1, length=4), 0)
