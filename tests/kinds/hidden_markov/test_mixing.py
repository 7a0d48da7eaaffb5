"""Mixing times: those of the paper, of what forgets by design, and of what never does."""

import numpy as np
import pytest

import krohn
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    randomise_actions,
)
from krohn.kinds.hidden_markov.source_structure import (
    NEAR,
    MixingTime,
    mixing_time,
)
from krohn.program.errors import Refused

LENGTH = 120
TABLE = {"0.03": 69.4, "0.05": 42.2, "0.1": 21.4, "0.15": 14.2}
"""Table 1 of Hu et al. 2024 by the ε of Cyclic-RND: means over 5 seeds."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("back", TABLE)
def test_cycles_that_go_back_mix_as_the_paper_says(back: str) -> None:
    names = [f"Cyclic-RND5,5@{seed}:epsilon={back}" for seed in range(3)]
    times = [mixing_time(krohn.hidden_markov(name), 500).time for name in names]
    assert abs(np.mean([t for t in times if t]) - TABLE[back]) < 3
    assert None not in times


def test_the_paper_cuts_the_slowest_at_the_length_of_its_words() -> None:
    found = mixing_time(krohn.hidden_markov("Cyclic-RND5,5@3:epsilon=0.01"), 300)
    assert found.cap_time(LENGTH) == (LENGTH, True)
    assert found.time is not None
    assert 190 < found.time < 220


def test_random_models_mix_at_once() -> None:
    """1.6 in the paper; 2.9 with the letter of the first state left out of the count."""
    times = [
        mixing_time(krohn.hidden_markov(f"RanHMM5,5@{s}"), 300).time or 99
        for s in range(10)
    ]
    assert abs(np.mean(times) - 1.6) < 3


def test_what_permutes_its_states_never_mixes() -> None:
    found = mixing_time(krohn.hidden_markov("Cyclic-DET5,5@3"), 50, longest=200)
    assert found.time is None
    assert found.interval == (None, None)
    assert found.cap_time(100) == (100, True)


def test_the_hard_model_mixes_when_its_state_is_told() -> None:
    """The paper says that it has no mixing time; by its definition it has a long one.

    All priors agree once a state was told, and they do not before; so the distance is
    the probability that none was told, about (119/120)^t.
    """
    source = krohn.hidden_markov("Cyclic-HARD5,5@3")
    found = mixing_time(source, 500, longest=350)
    untold, law = [], source.start
    for _ in range(len(found.distances)):
        law = source.operators[:6].sum(axis=0) @ law  # no letter that tells a state
        untold.append(law.sum())
    assert np.abs(found.distances - untold).max() < 0.07
    assert found.time is not None
    assert 240 < found.time < 320
    assert found.cap_time(LENGTH) == (LENGTH, True)


def test_the_interval_narrows_and_holds_the_estimate() -> None:
    few, many = (mixing_time(krohn.hidden_markov("RRXOR"), n) for n in (100, 4000))
    for found in (few, many):
        lower, upper = found.interval
        assert lower is not None
        assert upper is not None
        assert lower <= (found.time or 0) <= upper
    wide, narrow = (f.errors[5] for f in (few, many))
    assert narrow < wide / 3


def test_known_states_are_followed_as_beliefs_are() -> None:
    """Both ways of computing agree where both serve."""
    exact = krohn.hidden_markov("EvenProcess")
    blurred = HiddenMarkovModel(
        "blurred",
        exact.states,
        exact.letters,
        exact.operators + np.array([[[0, 0], [1e-12, 0]], [[0, 0], [0, 0]]]),
        exact.start,
    )
    one, other = mixing_time(exact, 500), mixing_time(blurred, 500)
    assert np.allclose(one.distances, other.distances, atol=1e-9)


def test_two_known_states_are_the_worst_priors() -> None:
    """No pair of other priors is farther apart after the same word."""
    source, generator = krohn.hidden_markov("RanHMM4,3@2"), np.random.default_rng(0)
    word = source.sample(2, 3, generator)[0]
    product = source.operators[word[0, 1]] @ source.operators[word[0, 0]]
    known = product / product.sum(axis=0)
    most = max(np.abs(a - b).sum() / 2 for a in known.T for b in known.T)
    for _ in range(200):
        laws = generator.dirichlet(np.ones(4), 2).T
        after = product @ laws
        after /= after.sum(axis=0)
        assert np.abs(after[:, 0] - after[:, 1]).sum() / 2 <= most + 1e-12


def test_actions_are_chosen_uniformly() -> None:
    chosen = krohn.hidden_markov("Cyclic-RND4,3@1:epsilon=0.2")
    times = [mixing_time(m, 2000, 4, 6) for m in (chosen, randomise_actions(chosen))]
    assert np.abs(times[0].distances - times[1].distances).max() < 0.02


def test_a_search_is_cut_by_its_work() -> None:
    source = krohn.hidden_markov("Cyclic-RND5,5@3:epsilon=0.01")
    assert len(mixing_time(source, 10, work=10 * 125 * 7).distances) == 7
    with pytest.raises(Refused, match="two words"):
        mixing_time(source, 1)


def test_the_time_is_the_first_at_which_the_mean_is_near() -> None:
    drawn = MixingTime(np.array([0.5, NEAR, 0.05]), np.array([0.1, 0.01, 0.01]), 9)
    assert drawn.time == 2
    assert drawn.interval == (2, 3)
