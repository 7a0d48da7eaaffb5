"""What a model is: each property by an example and by its definition."""

from itertools import product

import numpy as np
import pytest

import krohn
from krohn.kinds.hidden_markov import source_structure as structures
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_structure import Structure


def structure(name: str) -> Structure:
    return Structure(krohn.hidden_markov(name))


def of_maps(*maps: list[int]) -> Structure:
    """The machine of some maps of its states."""
    matrices = np.array([np.eye(len(m))[m].T for m in maps])
    names = tuple(str(i) for i in range(len(maps[0])))
    letters = tuple(str(i) for i in range(len(maps)))
    start, actions = np.eye(len(names))[0], tuple(range(len(maps)))
    model = HiddenMarkovModel("maps", names, letters, matrices, start, actions)
    return Structure(model)


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("Cyclic-DET5,5@3", {"linear", "unifilar", "deterministic", "permutation"}),
        ("Cyclic-RND5,5@3", {"linear"}),
        ("Cyclic-HARD3,2@3", {"unifilar"}),
        ("RRXOR", {"unifilar"}),
        ("RanHMM5,5@3", set()),
    ],
)
def test_families_are_what_they_are_made_to_be(name: str, holds: set[str]) -> None:
    every = ("linear", "unifilar", "deterministic", "permutation")
    found = structure(name)
    assert {p for p in every if getattr(found, p)} == holds


def test_a_reset_is_deterministic_and_forgets_at_once() -> None:
    found = of_maps([0, 0, 0], [2, 2, 2])
    assert found.deterministic
    assert not found.permutation
    assert found.forgets == 1
    assert found.synchronises


def test_a_flip_flop_synchronises_but_one_letter_keeps_all() -> None:
    found = of_maps([0, 1], [0, 0], [1, 1])
    assert found.synchronises
    assert found.forgets is None
    assert not found.forgetting_is_open


def test_a_machine_of_the_last_two_letters_forgets_after_two() -> None:
    """States are pairs of letters; the next is (last, new)."""
    pairs = list(product(range(2), repeat=2))
    maps = [[pairs.index((last, new)) for _, last in pairs] for new in range(2)]
    assert of_maps(*maps).forgets == 2


@pytest.mark.parametrize("name", ["Cyclic-RND5,5@3", "RanHMM4,3@1", "GoldenMean"])
def test_what_forgets_has_products_with_one_support_and_a_shorter_word_has_not(
    name: str,
) -> None:
    found = structure(name)
    assert found.forgets is not None
    operators = found.model.operators > 0
    for length, all_alike in ((found.forgets, True), (found.forgets - 1, False)):
        alike = []
        for word in product(range(len(operators)), repeat=length):
            reached = np.eye(found.model.size, dtype=bool)
            for letter in word:
                reached = operators[letter] @ reached
            columns = {tuple(c) for c in reached.T.tolist() if any(c)}
            alike.append(len(columns) <= 1)
        assert all(alike) == all_alike


def test_what_permutes_states_or_parities_does_not_forget() -> None:
    """Of 4 states in cycles, an even number of steps leads to half of them."""
    for name in ("Cyclic-DET5,5@3", "Cyclic-RND4,1@3", "EvenProcess"):
        assert structure(name).forgets is None


def test_a_letter_shrinks_projective_distances_by_its_contraction() -> None:
    found, generator = structure("RanHMM4,3@1"), np.random.default_rng(0)

    def distance(x: np.ndarray, y: np.ndarray) -> float:
        return float(np.ptp(np.log(x / y)))

    shrunk = []
    for _ in range(300):
        x, y = generator.dirichlet(np.full(4, 0.2), 2) + 1e-9
        apart = [distance(a @ x, a @ y) for a in found.model.operators]
        shrunk.append(max(apart) / distance(x, y))
    assert max(shrunk) <= found.contraction + 1e-12
    assert max(shrunk) > found.contraction / 2


def test_a_letter_that_keeps_zeros_apart_does_not_contract() -> None:
    assert structure("Cyclic-RND5,5@3").contraction == 1
    assert structure("GoldenMean").contraction == 0


def test_searches_that_are_too_large_stay_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(structures, "MOST_STEPS", 100)
    assert structure("Cyclic-RND5,5@3").forgets is None
    assert structure("Cyclic-RND5,5@3").forgetting_is_open
    monkeypatch.setattr(structures, "MOST_STEPS", 10)
    assert structure("RRXOR").synchronises is None


@pytest.mark.parametrize(
    "name", ["EvenProcess", "RRXOR", "Cyclic-RND4,2@3", "C2", "S3"]
)
def test_two_pasts_are_told_apart_for_ever(name: str) -> None:
    """The beliefs after them share no state, however often the third word comes."""
    found = (
        structure(name)
        if name not in ("C2", "S3")
        else of_maps(
            [1, 0] if name == "C2" else [1, 2, 0], [0, 1] + [2] * (name == "S3")
        )
    )
    pasts = found.two_pasts
    assert pasts is not None
    assert found.forgets is None
    for times in (0, 1, 2, 7):
        one, other = (
            found.model.start if not word else found.model.filter([word])[0][0, -1]
            for word in (
                [*pasts.one, *pasts.again * times],
                [*pasts.other, *pasts.again * times],
            )
        )
        assert one.sum() == pytest.approx(1)
        assert other.sum() == pytest.approx(1)
        assert not ((one > 0) & (other > 0)).any()


@pytest.mark.parametrize("name", ["RanHMM5,5@3", "Mess3", "GoldenMean"])
def test_what_forgets_has_no_two_pasts(name: str) -> None:
    assert structure(name).forgets is not None
    assert structure(name).two_pasts is None
