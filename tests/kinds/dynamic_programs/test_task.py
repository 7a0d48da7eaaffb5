"""Networks are trained on the texts of dynamic programs that are compiled."""

import numpy as np
import pytest

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.public_texts import EditDistances
from krohn.instruments.compare.tasks.texts import Steps, TextTask

RNG = np.random.default_rng


def test_texts_of_a_dynamic_program_are_those_that_are_compiled() -> None:
    source = Steps("EditDistance3,3:letters=2")
    task = TextTask(source)
    batch = task.batch(RNG(0), 30, task.length)
    texts = np.hstack([batch.letters, batch.labels[:, -1:]])
    assert (source.chain.source.continue_prompts(texts[:, :8]) == texts).all()
    assert (batch.trained == (np.arange(task.length) >= 7)).all()
    answers = texts[:, source.chain.source.answer - 1]
    assert (task.answers(texts) == answers).all()
    # The public format is this text: Krohn's has words of one size.
    public = EditDistances(4).text([0, 1, 0], [1, 1, 0])
    told = [EditDistances(4).tokens[i] for i in public]
    prompt = [source.tokens.index(name) for name in told[:8]]
    (own,) = Steps(
        "EditDistance3,3:letters=2,boundary=1"
    ).chain.source.continue_prompts(np.array([prompt]))
    assert [source.tokens[i] for i in own] == told


def test_what_makes_no_sense() -> None:
    with pytest.raises(KrohnError, match="n is 99"):
        Steps("LCS99,2")
    with pytest.raises(KrohnError, match="are read to 22 tokens"):
        TextTask(Steps("EditDistance3,3")).batch(RNG(0), 2, 9)
