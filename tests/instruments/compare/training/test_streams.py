"""Networks are measured on other words than those that they were trained on."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from krohn.algebra.automaton import Automaton, IntArray
from krohn.instruments.compare.comparison import measurements
from krohn.instruments.compare.models import (
    Lstm,
    build,
)
from krohn.instruments.compare.probes.survey import (
    Survey,
    survey,
)
from krohn.instruments.compare.tasks import Uniform
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.provenance import (
    Purpose,
    stream,
)


def first(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def test_every_purpose_of_every_step_has_numbers_of_its_own() -> None:
    asked = list(product(range(4), range(4), Purpose))
    assert len({first(stream(*one)) for one in asked}) == len(asked)


def test_a_seed_alone_gives_the_words_of_the_first_step() -> None:
    """Why nobody may measure with a small seed alone."""
    assert first(np.random.default_rng(3)) == first(stream(3, 0, Purpose.WORDS))


def test_a_comparison_draws_nothing_that_training_draws() -> None:
    training = [use for use in Purpose if use < Purpose.PROBES]
    taught = {first(stream(s, 0, use)) for s in range(9) for use in training}
    found = {first(measurements._rng(purpose)) for purpose in measurements.Purpose}
    assert len(found) == len(measurements.Purpose)
    assert not found & taught


@dataclass(frozen=True)
class Watched:
    """The words of C2, kept as they are drawn."""

    drawn: list[IntArray]
    said: str = "watched"

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        self.drawn.append(Uniform().draw(machine, rng, count, length))
        return self.drawn[-1]


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_survey_looks_at_no_word_of_the_first_step(seed: int) -> None:
    taught = task("C2").batch(stream(seed, 0, Purpose.WORDS), 64, 24).letters
    seen: list[IntArray] = []
    survey(
        build(Lstm(4, 4), 2, 2, 24, seed),
        task("C2", Watched(seen)),
        None,
        Survey(90, 24, exchanges=0, seed=seed),
    )
    known = {word.tobytes() for word in taught}
    assert len(seen) == 1
    assert not any(word.tobytes() in known for word in seen[0])
