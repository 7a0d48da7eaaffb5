"""Families of hidden Markov models: what names mean, and what is known of them."""

import hashlib

import numpy as np
import pytest

from krohn.kinds.hidden_markov.source import (
    PROCESSES,
    HiddenMarkovModel,
    find_by_name,
)
from krohn.kinds.hidden_markov.source_examples import EXAMPLES
from krohn.kinds.linear_systems import source as linear_systems
from krohn.program.errors import Refused


def model(name: str) -> HiddenMarkovModel:
    found = find_by_name(name)
    assert found is not None
    return found


def entropy(beliefs: np.ndarray) -> float:
    """The mean entropy of beliefs in nats: the least cross entropy of any network."""
    return float(-(beliefs * np.log(np.maximum(beliefs, 1e-300))).sum(axis=-1).mean())


@pytest.mark.parametrize(
    ("name", "digest"),
    [("RanHMM5,5@3", "e46ffc1ce164"), ("Cyclic-HARD5,5@3", "7955d160b55e")],
)
def test_names_mean_the_same_bytes_everywhere(name: str, digest: str) -> None:
    found = hashlib.sha256(model(name).operators.tobytes()).hexdigest()
    assert found.startswith(digest)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_models_that_say_all_letters_by_themselves(name: str) -> None:
    assert model(name).actions is None
    assert np.abs(model(name).operators.sum(axis=(0, 1)) - 1).max() < 1e-15


@pytest.mark.parametrize(("family", "last"), [("RanHMM3,3", 4), ("RanHMM9,3", 40)])
def test_a_mixture_of_names_is_one_of_models(family: str, last: int) -> None:
    """The larger one has so many states that words of a letter are filtered together."""
    mixed = model(f"mixture:{family}@2..{last}")
    each = [model(f"{family}@{seed}") for seed in range(2, last + 1)]
    assert mixed.name == f"mixture:{family}@2..{last}"
    words = np.random.default_rng(0).integers(3, size=(20, 6))
    likely = np.exp([one.filter(words)[1].sum(axis=1) for one in each]).mean(axis=0)
    assert np.allclose(np.exp(mixed.filter(words)[1].sum(axis=1)), likely)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mixture:RanHMM3,3@4..3", "mixes no models"),
        ("mixture:RanHMM3,3@0..999999999", "more than 256 states"),
        ("mixture:RanHMM1,3@0..3", "needs 2 to"),
        ("prompts0:Mess3", "demonstrations of 2 letters or more"),
        ("prompts99:Mess3", "more than 256 states"),
        ("prompts9999999:mixture:RanHMM3,3@0..3", "more than 256 states"),
        ("prompts2:mixture:RanHMM3,3@4..3", "mixes no models"),
    ],
)
def test_mixtures_that_are_none_are_refused(name: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        find_by_name(name)


@pytest.mark.parametrize(
    "name", ["mixture:Grid4@0..3", "prompts2:Grid4", "prompts2:prompts2:Mess3"]
)
def test_a_mixture_of_other_names_is_none(name: str) -> None:
    assert find_by_name(name) is None


@pytest.mark.parametrize(
    ("name", "parts", "window"),
    [
        ("prompts2:mixture:RanHMM3,3@0..2", [f"RanHMM3,3@{i}" for i in range(3)], 2),
        ("prompts1:Mess3", ["Mess3"], 1),
    ],
)
def test_prompts_are_demonstrations_of_one_model_that_begins_anew(
    name: str, parts: list[str], window: int
) -> None:
    """By Bayes' rule over the models, each filtered anew in each demonstration."""
    prompts, models = model(name), [model(part) for part in parts]
    words = prompts.sample(30, 25, np.random.default_rng(0))[0]
    assert ((words == 3) == (np.arange(25) % (window + 2) == window + 1)).all()
    laws = prompts.predict(prompts.filter(words)[0])
    for word, law in zip(words, laws, strict=True):
        likely, beliefs = np.ones(len(models)), [one.start for one in models]
        for t, letter in enumerate(word.tolist()):
            for i, one in enumerate(models):
                after = one.start if letter == 3 else one.operators[letter] @ beliefs[i]
                likely[i] *= after.sum()
                beliefs[i] = after / after.sum()
            likely /= likely.sum()
            says = np.array(
                [
                    x.operators.sum(axis=1) @ b
                    for x, b in zip(models, beliefs, strict=True)
                ]
            )
            full = t % (window + 2) == window
            right = [0, 0, 0, 1] if full else [*(likely @ says), 0]
            assert law[t] == pytest.approx(right, abs=1e-12)


def test_random_laws_have_the_entropy_floor_of_the_paper() -> None:
    """Mean belief entropy 1.44 nats; the paper's loss, 1.401, is in the range."""
    floors = []
    for seed in range(20):
        drawn, generator = model(f"RanHMM5,5@{seed}"), np.random.default_rng(seed)
        words, _ = drawn.sample(500, 40, generator)
        floors.append(entropy(drawn.filter(words)[0]))
    assert abs(np.mean(floors) - 1.436) < 0.03
    assert min(floors) < 1.401 < max(floors)


def test_cycles_that_go_back_have_columns_of_exactly_one() -> None:
    for back in ("0.01", "0.03", "0.05", "0.1", "0.15", ".3", "1e-3"):
        source = linear_systems.find_by_name(f"Cyclic-RND5,5@3:epsilon={back}")
        assert source is not None
        assert source.functions() is None
        assert (source.matrices.sum(axis=1) == 1).all()
        cycles = linear_systems.find_by_name("Cyclic-DET5,5@3")
        assert cycles is not None
        assert np.abs(source.matrices - cycles.matrices).max() <= float(back) + 2.0**-53


def test_cycles_that_go_back_have_the_entropy_floor_of_the_paper() -> None:
    """1.127 nats at ε = 0.01 and T = 120; the paper's best Transformer has 1.138."""
    source = linear_systems.find_by_name("Cyclic-RND5,5@3:epsilon=0.01")
    assert source is not None
    words = np.random.default_rng(0).integers(5, size=(1000, 120))
    assert abs(entropy(source.run(words)) - 1.127) < 0.03


HARD = "Cyclic-HARD5,5@3"
STAR = 5


def test_the_hard_model_asks_about_once_in_the_length_of_the_paper() -> None:
    """0.965 states are told in 120 letters, on average: its law, not a sample."""
    source = model(HARD)
    told, law = 0.0, source.start
    for _ in range(120):
        told += source.predict(law)[STAR + 1 :].sum()
        law = source.operators.sum(axis=0) @ law
    assert abs(told - 0.965) < 0.02


def asked(count: int) -> list[tuple[list[int], list[int]]]:
    """Words with the places of ``*`` in them that are answered."""
    often = model(f"{HARD}:alpha=0.05")
    words = often.sample(count, 60, np.random.default_rng(1))[0].tolist()
    places = [[i for i, o in enumerate(w[:-2]) if o == STAR] for w in words]
    return list(zip(words, places, strict=True))


def test_the_letter_after_a_star_is_certain_and_so_is_the_one_after() -> None:
    often = model(f"{HARD}:alpha=0.05")
    for word, places in asked(30):
        laws = often.predict(often.filter([word])[0][0])
        for i in places:
            assert laws[i, word[i + 1]] == 1
            assert abs(laws[i + 1, word[i + 2]] - 1) < 1e-15
            assert word[i + 2] == word[i - 1]  # the pending action is said once more


def test_the_action_before_a_star_is_not_taken() -> None:
    base = linear_systems.find_by_name("Cyclic-DET5,5@3")
    assert base is not None
    functions = base.functions()
    assert functions is not None
    for word, places in asked(50):
        for i in places[:1]:
            states = [0]
            for action in word[:i]:
                states.append(int(functions[action, states[-1]]))
            assert word[i + 1] - STAR - 1 == states[-2] != states[-1]


def test_beliefs_of_the_hard_model_are_certain_from_the_first_letter_on() -> None:
    words, states = model(HARD).sample(20, 50, np.random.default_rng(2))
    beliefs, _ = model(HARD).filter(words)
    assert np.array_equal(beliefs, np.eye(75)[states[:, 1:]])


@pytest.mark.parametrize(
    ("name", "order"),
    [("5,5@0", 60), ("5,5@3", 60), ("5,2@1", 60), ("5,1@3", 5), ("5,2@0", 5)],
)
def test_cycles_of_five_make_a5_or_c5(name: str, order: int) -> None:
    """C5 if all are powers of one cycle; else A5, for a cycle of five is even."""
    source = linear_systems.find_by_name(f"Cyclic-DET{name}")
    assert source is not None
    functions = source.functions()
    assert functions is not None
    letters = {tuple(f) for f in functions.tolist()}
    group = found = letters
    while found:
        found = {tuple(f[i] for i in g) for f in letters for g in found} - group
        group = group | found
    assert len(group) == order


@pytest.mark.parametrize("name", ["GoldenMean", "EvenProcess", "RRXOR", "Mess3"])
def test_processes_start_in_their_stationary_law(name: str) -> None:
    process = model(name)
    after = process.operators.sum(axis=0) @ process.start
    assert np.allclose(after, process.start, atol=1e-15)


def test_processes_say_what_they_are_known_for() -> None:
    words = {
        n: model(n).sample(200, 60, np.random.default_rng(0))[0] for n in PROCESSES
    }
    texts = {n: ["".join(map(str, w)) for w in found] for n, found in words.items()}
    assert not any("00" in text for text in texts["GoldenMean"])
    for text in texts["EvenProcess"]:
        assert all(len(run) % 2 == 0 for run in text.split("0")[1:-1])
    for text in texts["RRXOR"]:
        bits = [int(c) for c in text]
        sums = [(bits[i] + bits[i + 1] + bits[i + 2]) % 2 for i in range(57)]
        assert any(not any(sums[phase::3]) for phase in range(3))
    assert abs((words["Mess3"][:, 1:] == words["Mess3"][:, :-1]).mean() - 0.674) < 0.02


def test_other_names_are_not_ours() -> None:
    for name in ("RanHMM", "RanHMM5,5", "MatMul5,5@3", "RanHMM5,5@3:alpha=0.1", "S5"):
        assert find_by_name(name) is None
    for name in ("MatMul5,5@3:epsilon=0.1", "Cyclic-DET5,5@3:epsilon=0.1"):
        assert linear_systems.find_by_name(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("RanHMM1,5@3", "2 to 64 states"),
        ("RanHMM5,99999999@3", "2 to 64 states"),
        ("Cyclic-HARD12,12@3", "more than 256 states"),
        ("Cyclic-HARD5,0@3", "no letters"),
        ("Cyclic-HARD5,5@3:alpha=1.5", "probability between 0 and 1"),
        ("Cyclic-HARD5,5@3:alpha=0", "probability between 0 and 1"),
    ],
)
def test_numbers_out_of_range_are_refused(name: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        find_by_name(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Cyclic-RND2,5@3", "needs 3 states"),
        ("Cyclic-RND5,5@3:epsilon=0", "probability between 0 and 1"),
        ("Cyclic-RND5,5@3:epsilon=1e-30", "probability between 0 and 1"),
        ("Cyclic-RND5,5@3:epsilon=1e3", "probability between 0 and 1"),
    ],
)
def test_cycles_that_cannot_go_back_are_refused(name: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        linear_systems.find_by_name(name)
