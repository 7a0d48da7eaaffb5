"""Linear probes find what is stored, and their controls say what comes for free."""

from collections.abc import Callable

import numpy as np
import pytest

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.models import Compiled
from krohn.instruments.compare.probes.exchange import hidden_states
from krohn.instruments.compare.probes.scores import (
    ROUNDS,
    control,
    discriminants,
    logistics,
    r_squared,
    score,
    shares_of,
    split,
    whitening,
)
from krohn.instruments.compare.probes.variables import (
    variable,
    variables,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.network.precision import FloatArray

Tasks = Callable[[str], Task]
Words = Callable[..., IntArray]


def test_whitened_states_have_mean_zero_and_covariance_one() -> None:
    rng = np.random.default_rng(0)
    states = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 5)) * 100 + 7
    white = whitening(states)(states)
    assert white.shape == (400, 3)
    assert np.allclose(white.mean(axis=0), 0)
    assert np.allclose(white.T @ white / 400, np.eye(3))


def test_whitening_leaves_out_the_rounding_of_float32() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=(300, 1)) * 100
    both = np.concatenate([first, first.astype(np.float32)], axis=1)
    assert whitening(both)(both).shape == (300, 1)


def test_discriminants_read_an_integer_of_many_values_from_one_dimension() -> None:
    rng = np.random.default_rng(0)
    column = rng.integers(40, size=2000)
    noise = rng.normal(size=(2000, 10))
    states = np.concatenate([column[:, None], noise + column[:, None]], axis=1)
    white = whitening(states)(states)
    assert (discriminants(white, column, 40)(white) == column).all()


def test_logistic_regressions_are_those_of_each_column_alone() -> None:
    rng = np.random.default_rng(0)
    states = rng.normal(size=(500, 4))
    white = whitening(states)(states)
    first = (white[:, 0] > 0).astype(np.int64)
    second = rng.integers(3, size=500)
    both = logistics(white, [first, second], [2, 3])
    alone = logistics(white, [first], [2])[0]
    assert np.allclose(both[0].weights, alone.weights, atol=1e-4)
    assert (both[0](white) == first).mean() > 0.97


def test_logistic_regression_is_as_near_to_the_least_loss_as_is_said() -> None:
    rng = np.random.default_rng(1)
    states = rng.normal(size=(400, 3))
    white = whitening(states)(states)
    truth = rng.normal(size=(4, 3))
    features = np.concatenate([white, np.ones((400, 1))], axis=1)
    column = (features @ truth + rng.gumbel(size=(400, 3))).argmax(axis=1)

    def loss(weights: FloatArray) -> float:
        logits = features @ weights
        total = np.log(np.exp(logits).sum(axis=1))
        return float((total - logits[np.arange(400), column]).mean())

    (found,) = logistics(white, [column], [3])
    reached = loss(np.concatenate([found.weights, found.biases[None]]))
    assert reached <= loss(truth) + (truth**2).sum() / (ROUNDS + 1) ** 2


def test_a_regression_explains_affine_functions_and_no_noise() -> None:
    rng = np.random.default_rng(0)
    states = rng.normal(size=(600, 6))
    white = whitening(states[:400])(states)
    line = white @ np.arange(6.0) + 3
    assert r_squared(white[:400], line[:400], (white[400:], line[400:])) > 0.999
    noise = rng.normal(size=600)
    assert r_squared(white[:400], noise[:400], (white[400:], noise[400:])) < 0.1


def test_a_control_task_is_a_function_of_the_last_letters() -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(2, size=(500, 8))
    shares = shares_of(variable("v", "channel", rng.integers(3, size=(500, 8))))
    values = control(shares, words, 2)  # 8 windows of 3 letters
    for t in range(3, 8):
        window = words[:, t - 2 : t + 1] @ np.array([1, 2, 4])
        for item in range(8):
            assert len(np.unique(values[window == item, t])) == 1
    assert np.array_equal(values, control(shares, words, 2))
    assert len(np.unique(control(shares, words, 64)[:, 7])) == 3


def test_selective_is_what_is_stored_and_not_what_is_known_by_heart() -> None:
    """One-hot pairs of letters: the letter before is read, windows and parity are not."""
    rng = np.random.default_rng(0)
    words = rng.integers(2, size=(300, 8))
    before = np.concatenate([np.full((300, 1), 2), words[:, :-1]], axis=1)
    states = np.eye(6)[3 * words + before]
    parity = variable("parity", "channel", np.cumsum(words, axis=1) % 2)
    last = variable("letter before", "channel", before)
    found, stored = score(states, [parity, last], words, split(300, rng))
    assert stored.accuracy == 1
    assert stored.control is not None
    assert stored.accuracy - stored.control > 0.2
    assert found.accuracy is not None
    assert found.accuracy < 0.7


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "channel"),
    [
        ("C5", "counter", "counter: sum"),
        ("Grid4", "gridworld", "gridworld: lap"),
        ("D6", "semidirect-car", "semidirect-car: h.count0"),
    ],
)
def test_a_compiled_network_holds_its_channels_where_its_file_says(
    task_of: Tasks,
    words_for: Words,
    derived: Callable[..., Compiled],
    name: str,
    construction: str,
    channel: str,
) -> None:
    task = task_of(name)
    words = words_for(task, 240, 12)
    network = derived(name, construction, 12)
    v = variables(task, words).find_by_name(channel)
    place = network.model.places()[channel.partition(": ")[2]]
    states, said = hidden_states(network, words)
    assert np.array_equal(said, task.label(words).labels)
    parts = split(240, np.random.default_rng(0))
    by_layer = [score(s, [v], words, parts)[0].accuracy or 0 for s in states]
    first, last = place.snapshots
    assert min(by_layer[first : last + 1]) > 0.995
    assert max(by_layer[:first]) < 0.9


def test_a_compiled_network_does_not_hold_what_another_construction_needs(
    task_of: Tasks, words_for: Words, derived: Callable[..., Compiled]
) -> None:
    task = task_of("C5")
    words = words_for(task, 240, 12)
    product = variables(task, words).find_by_name("scan: product of the last 4 letters")
    states, _ = hidden_states(derived("C5", "counter", 12), words)
    parts = split(240, np.random.default_rng(0))
    found = [score(s, [product], words, parts)[0] for s in states]
    assert all(f.accuracy < 0.6 for f in found if f.accuracy is not None)
