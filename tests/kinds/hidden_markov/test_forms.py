"""One process in its forms: words are as likely, and beliefs mean what is said of them."""

from itertools import product

import numpy as np
import pytest

from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    drive_system,
    mixture,
    moore_form,
    paper_form,
    randomise_actions,
    unifilar,
)
from krohn.kinds.linear_systems import source as linear_systems
from krohn.program.errors import Refused

CYCLES = "Cyclic-DET4,3@1"
NOISY = "Cyclic-RND4,3@1:epsilon=0.1"


def machine(name: str) -> HiddenMarkovModel:
    found = linear_systems.find_by_name(name)
    assert found is not None
    return drive_system(found)


def drawn(name: str) -> HiddenMarkovModel:
    found = hidden_markov.find_by_name(name)
    assert found is not None
    return found


def likelihoods(model: HiddenMarkovModel, words: np.ndarray) -> np.ndarray:
    return np.exp(model.filter(words)[1].sum(axis=1))


def marginals(
    model: HiddenMarkovModel, beliefs: np.ndarray, letters: int
) -> np.ndarray:
    """Of pairs (s, o) the law of s; a last state without a pair is left out."""
    pairs = beliefs[..., : model.size // letters * letters]
    return pairs.reshape(*beliefs.shape[:-1], -1, letters).sum(axis=-1)


@pytest.mark.parametrize("name", [CYCLES, NOISY, "RanHMM3,2@5"])
def test_all_forms_say_each_word_as_likely(name: str) -> None:
    source = drawn(name) if name.startswith("Ran") else machine(name)
    words = np.array(list(product(range(len(source.letters)), repeat=4)))
    wanted = likelihoods(randomise_actions(source), words)
    assert abs(wanted.sum() - 1) < 1e-12
    for form in (moore_form(source), paper_form(source)):
        assert np.allclose(likelihoods(form, words), wanted, rtol=1e-12)


def test_uniform_actions_do_not_change_beliefs() -> None:
    words = np.random.default_rng(0).integers(3, size=(5, 30))
    chosen, by_itself = machine(NOISY), randomise_actions(machine(NOISY))
    assert np.allclose(chosen.filter(words)[0], by_itself.filter(words)[0], atol=1e-14)
    assert np.allclose(likelihoods(by_itself, words), 3.0**-30)


@pytest.mark.parametrize("name", [CYCLES, NOISY])
def test_paths_of_states_and_letters_are_as_likely(name: str) -> None:
    """Pr(s_0, o_1, s_1, o_2, s_2) by the decision process, and by each joint chain."""
    source = machine(name)
    moore, paper = moore_form(source), paper_form(source)
    for s, t, o, p in product(range(4), range(4), range(3), range(3)):
        wanted = source.operators[o][s, 0] * source.operators[p][t, s] / 9
        first, second = moore.operators[o], moore.operators[p]
        assert np.isclose(first[s * 3 + o, 0] * second[t * 3 + p, s * 3 + o], wanted)
        # the paper's pairs are (state before, letter): 0 says o, s says p, t says any
        begun = paper.operators[o][0 * 3 + o, 12] * paper.operators[p][s * 3 + p, o]
        ends = sum(paper.operators[q][t * 3 + q, s * 3 + p] for q in range(3))
        assert np.isclose(begun * ends, wanted)


def test_after_a_letter_the_moore_form_is_where_the_letter_led() -> None:
    source = machine(CYCLES)
    words = np.random.default_rng(0).integers(3, size=(4, 20))
    after = source.filter(words)[0]
    form = moore_form(source)
    assert np.array_equal(marginals(form, form.filter(words)[0], 3), after)


def test_after_a_letter_the_papers_form_is_where_it_was_before_the_letter() -> None:
    """The pitfall: its filter is late by one letter; what it predicts is not."""
    source = machine(CYCLES)
    words = np.random.default_rng(0).integers(3, size=(4, 20))
    after, form = source.filter(words)[0], paper_form(machine(CYCLES))
    beliefs = form.filter(words)[0]
    held = marginals(form, beliefs, 3)
    before = np.concatenate([np.tile(source.start, (4, 1, 1)), after[:, :-1]], axis=1)
    assert np.allclose(held, before)
    assert np.abs(held - after).max() == 1
    ahead = beliefs @ form.operators.sum(axis=0).T
    assert np.allclose(marginals(form, ahead, 3), after)


@pytest.mark.parametrize(
    ("first", "states"),
    [([0.25, 0.75], ("1", "2")), ([0.0, 1.0], ("1", "2", "start"))],
)
def test_a_model_that_says_its_first_letter_at_once_is_bayes_rule(
    first: list[float], states: tuple[str, ...]
) -> None:
    """With a law before the first step, or with a state where there is none."""
    step, say = np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[0.7, 0.4], [0.3, 0.6]])
    model = HiddenMarkovModel.of("rain", step, say, first=first)
    assert model.states == states
    joint = say[1] * first
    assert np.allclose(model.filter([[1]])[0][0, 0, :2], joint / joint.sum())
    joint = say[0] * (step @ joint)
    assert np.allclose(model.filter([[1, 0]])[0][0, 1, :2], joint / joint.sum())
    assert np.isclose(likelihoods(model, np.array([[1, 0]])), joint.sum())


def test_a_unifilar_model_knows_its_state_for_ever_once_it_does() -> None:
    likely = np.array([[0.5, 0.0], [0.5, 1.0]])
    golden = unifilar(
        "golden mean",
        likely,
        np.array([[1, 0], [0, 0]]),
        np.array([0.5, 0.5]),
        ("A", "B"),
        ("0", "1"),
    )
    beliefs, _ = golden.filter([[0, 1, 1, 0]])
    assert beliefs[0].tolist() == [[0, 1], [1, 0], [1, 0], [0, 1]]
    assert golden.filter([[0, 0]])[1][0, 1] == -np.inf


def test_what_has_no_such_form_is_refused() -> None:
    with pytest.raises(Refused, match="cannot say"):
        paper_form(drawn("Cyclic-HARD3,1@0"))
    product_system = linear_systems.find_by_name("MatMul3,2@0")
    assert product_system is not None
    with pytest.raises(Refused, match="negative"):
        drive_system(product_system)


def test_a_mixture_is_bayes_rule_over_models() -> None:
    one, two = drawn("RanHMM3,2@1"), drawn("RanHMM4,2@2")
    both = mixture("both", [one, two])
    words = np.array(list(product(range(2), repeat=5)))
    beliefs, likely = both.filter(words)
    likelihoods = [m.filter(words)[1].sum(axis=1) for m in (one, two)]
    first, second = np.exp(likelihoods)
    assert np.allclose(np.exp(likely.sum(axis=1)), (first + second) / 2)
    shares = beliefs[:, -1, :3].sum(axis=1)
    assert np.allclose(shares, first / (first + second))
    inside = beliefs[:, -1, :3] / shares[:, None]
    assert np.allclose(inside, one.filter(words)[0][:, -1])


def test_models_of_other_letters_are_not_mixed() -> None:
    with pytest.raises(Refused, match="other letters"):
        mixture("m", [drawn("RanHMM3,2@1"), drawn("RanHMM3,3@1")])
    with pytest.raises(Refused, match="are chosen"):
        mixture("m", [machine(CYCLES)])
    with pytest.raises(Refused, match="mixes no models"):
        mixture("m", [])
