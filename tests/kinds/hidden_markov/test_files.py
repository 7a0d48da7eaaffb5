"""Hidden Markov models from files: what is read, written, and refused in one line."""

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from work import calls_at_most

from krohn.kinds.hidden_markov import (
    source as hidden_markov,
    source_arrays as arrays_of_files,
    source_pomdp as pomdp,
)
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_files import (
    read,
    text,
)
from krohn.program.errors import KrohnError, Refused

EXAMPLES = Path(__file__).parents[3] / "examples"
START, STEP = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
SAY = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]


def model(path: Path) -> HiddenMarkovModel:
    found = read(path)
    assert found is not None
    return found


def forward(word: list[int]) -> tuple[np.ndarray, float]:
    """The filtered law and the likelihood, as hmmlearn's forward pass has them."""
    joint = np.array(START) * np.array(SAY)[:, word[0]]
    for o in word[1:]:
        joint = (joint @ np.array(STEP)) * np.array(SAY)[:, o]
    return joint / joint.sum(), float(joint.sum())


def arrays() -> dict[str, object]:
    return {"startprob": START, "transmat": STEP, "emissionprob": SAY}


def test_hmmlearns_arrays_give_hmmlearns_filter() -> None:
    """The start state says the first letter, and rows are laws."""
    found = model(EXAMPLES / "weather.json")
    for word in ([0], [2, 0], [0, 1, 2, 2, 0]):
        beliefs, likelihoods = found.filter([word])
        law, likely = forward(word)
        assert np.allclose(beliefs[0, -1], law, atol=1e-15)
        assert np.isclose(np.exp(likelihoods.sum()), likely, rtol=1e-13)
    assert found.states == ("rain", "sun")
    assert found.letters == ("walk", "shop", "clean")


@pytest.mark.parametrize("names", ["plain", "underscored", "pomegranate"])
def test_npz_files_hold_the_same_model(tmp_path: Path, names: str) -> None:
    said = {k: np.array(v) for k, v in arrays().items()}
    if names == "underscored":
        said = {f"{k}_": v for k, v in said.items()}
    if names == "pomegranate":
        say = np.array(SAY)[:, None]
        logs = {"starts": np.log(START), "edges": np.log(STEP)}
        said = {**logs, "probs": say, "ends": np.full(2, -np.inf)}
    np.savez(tmp_path / "weather.npz", **said)
    found, wanted = model(tmp_path / "weather.npz"), model(EXAMPLES / "weather.json")
    assert np.allclose(found.operators, wanted.operators, atol=1e-15)
    assert found.letters == ("0", "1", "2")


def saved() -> dict[str, Any]:
    """The weather as pomegranate before version 1 writes it."""

    def state(name: str, law: list[float] | None) -> dict[str, Any]:
        said = law and dict(zip(("walk", "shop", "clean"), law, strict=True))
        told = {"class": "Distribution", "name": "DiscreteDistribution"}
        told |= {"parameters": [said], "frozen": False}
        return {
            "class": "State",
            "name": name,
            "weight": 1.0,
            "distribution": law and told,
        }

    names = zip(("rain", "sun"), SAY, strict=True)
    every = [*(state(*each) for each in names), state("s", None), state("e", None)]
    edges = [[2, i, p, p, None] for i, p in enumerate(START)]
    edges += [[i, j, STEP[i][j], 0.0, None] for i in range(2) for j in range(2)]
    indices = {"silent_index": 2, "start_index": 2, "end_index": 3}
    return {"class": "HiddenMarkovModel", "states": every, "edges": edges, **indices}


def test_what_pomegranate_saved_is_the_same_model(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(json.dumps(saved()))
    found, wanted = model(tmp_path / "w.json"), model(EXAMPLES / "weather.json")
    assert np.allclose(found.operators, wanted.operators, atol=1e-15)
    assert (found.states, found.letters) == (wanted.states, wanted.letters)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"edges": [*saved()["edges"], [0, 3, 0.5]]}, "it can end"),
        ({"edges": saved()["edges"][1:]}, "row 1 of startprob adds up to 0.4"),
        ({"edges": [[0, 99, 1.0]]}, "no model that pomegranate has saved"),
        ({"edges": 3}, "no model that pomegranate has saved"),
        ({"silent_index": 1}, "silent states"),
        ({"silent_index": 10**12}, "not 1 to 255 states"),
        ({"states": []}, "emissionprob has no row"),
        (
            {"edges": [*saved()["edges"], [-1, 0, 1.0]]},
            "names a state that is not listed",
        ),
        (
            {"states": [{"distribution": {"name": "NormalDistribution"}}] * 4},
            "says no letters",
        ),
    ],
)
def test_what_pomegranate_saved_may_be_of_another_kind(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    (tmp_path / "w.json").write_text(json.dumps(saved() | change))
    with pytest.raises(Refused, match=reason):
        read(tmp_path / "w.json")


def test_laws_that_are_rounded_are_made_to_add_up(tmp_path: Path) -> None:
    said = arrays() | {"startprob": [0.333333, 0.666666]}
    (tmp_path / "rounded.json").write_text(json.dumps(said))
    found = model(tmp_path / "rounded.json")
    assert np.abs(found.operators.sum(axis=(0, 1)) - 1).max() < 1e-15


@pytest.mark.parametrize("name", ["RanHMM5,5@3", "Cyclic-HARD3,2@1", "EvenProcess"])
def test_our_json_is_read_back_to_the_bit(tmp_path: Path, name: str) -> None:
    wanted = hidden_markov.find_by_name(name)
    assert wanted is not None
    (tmp_path / "own.json").write_text(text(wanted))
    found = model(tmp_path / "own.json")
    assert np.array_equal(found.operators, wanted.operators)
    assert np.array_equal(found.start, wanted.start)
    assert text(found) == text(wanted)


def test_driven_models_stay_driven(tmp_path: Path) -> None:
    tiger = model(EXAMPLES / "tiger.pomdp")
    (tmp_path / "tiger.json").write_text(text(tiger))
    assert model(tmp_path / "tiger.json").actions == tiger.actions


def test_the_tiger_is_where_bayes_rule_says() -> None:
    tiger = model(EXAMPLES / "tiger.pomdp")
    assert tiger.letters[:2] == ("listen/left", "listen/right")
    assert tiger.actions == (0, 0, 1, 1, 2, 2)
    beliefs = tiger.filter([[0, 0, 1, 0, 3]])[0][0]
    odds = [0.85**2 / (0.85**2 + 0.15**2)]
    assert np.allclose(beliefs[1:4, 0], [*odds, 0.85, *odds])
    assert beliefs[4].tolist() == [0.5, 0.5]


HEAD = "discount: 0.9\nvalues: reward\nstates: 2\nactions: go\nobservations: a b\n"


def test_wildcards_rows_matrices_and_later_lines() -> None:
    found = pomdp.parse(
        HEAD
        + "start: 1\nT: * : * : * 0.5  # all\nT: go : 0\n1 0\n"
        + "O: *\n0.25 0.75\n1.0 0.0\nO: go : 1 : a 0.5\nO : go:1:b .5\n",
        "x",
    )
    assert found.start.tolist() == [0, 1]
    step, say = found.operators.sum(axis=0), [[0.25, 0.5], [0.75, 0.5]]
    assert step.tolist() == [[1, 0.5], [0, 0.5]]
    assert np.allclose(found.operators, np.array(say)[:, :, None] * step)


@pytest.mark.parametrize(
    ("line", "law"),
    [
        ("", [0.5, 0.5]),
        ("start: uniform", [0.5, 0.5]),
        ("start: 0.25 0.75", [0.25, 0.75]),
        ("start: 0", [1, 0]),
        ("start include: 1", [0, 1]),
        ("start exclude: 1", [1, 0]),
    ],
)
def test_starts(line: str, law: list[float]) -> None:
    found = pomdp.parse(HEAD + f"{line}\nT: * identity\nO: * uniform\n", "x")
    assert found.start.tolist() == law


def test_names_may_be_those_of_statements() -> None:
    head = "states: T O\nactions: R\nobservations: x\n"
    rest = "R: R : T : * : * 5\nT: R : T : O 1\nT: R : O : T 1\nO: R : * : x 1\n"
    found = pomdp.parse(head + rest, "x")
    assert found.letters == ("R",)
    assert found.operators[0].tolist() == [[0, 1], [1, 0]]


BODY = "T: * identity\nO: * uniform\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not say its states"),
        ("states: 999999999999\n", "line 1: there are at most 256 states"),
        ("states: a a\n", "line 1: states are 1 to 256 different names"),
        ("states:\nactions: 1\n", "line 1: states are"),
        ("states: 2\nstates: 2\n", "said twice"),
        ("states: 2\nT: 0 identity\n", "have to be said before this line"),
        ("states: 256\nactions: 256\nobservations: 256\nT: 0 identity\n", "4,194,304"),
        (HEAD + "colour: red\n" + BODY, "line 6: a line begins with one of"),
        (HEAD + BODY + "T: go : 5 : 0 1\n", "line 8: '5' is none of the 2 states"),
        (HEAD + BODY + "T: go : 0 : left 1\n", "'left' is none of the 2 states"),
        (HEAD + "start: elsewhere\n" + BODY, "line 6: 'elsewhere' is none of"),
        (HEAD + "start: 0.5 0.4\n" + BODY, "line 6: start is a law"),
        (HEAD + "start include: 7\n" + BODY, "'7' is none of the 2 states"),
        (HEAD + "start exclude: 0 1\n" + BODY, "start has no states"),
        (HEAD + BODY + "T: go : 0 : 0 nan\n", "line 8: 'nan' is no probability"),
        (HEAD + BODY + "T: go : 0 : 0 -0.5\n", "'-0.5' is no probability"),
        (HEAD + BODY + "T: go : 0 : 0 1e999\n", "'1e999' is no probability"),
        (HEAD + BODY + "T: go : 0 : 0 0.5\n", "T: go : 0 adds up to 0.5, not to 1"),
        (HEAD + "T: * identity\n", "O: go : 0 adds up to 0, not to 1"),
        (HEAD + BODY + "O: go\n0.5 0.5\n", "4 probabilities are expected"),
        (HEAD + BODY + "O go\n", "line 8: a colon is missing before 'go'"),
        (HEAD + BODY + "T:", "the file ends within a statement"),
    ],
)
def test_wrong_lines_are_named(text: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        pomdp.parse(text, "x")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_a_small_file_takes_little_work() -> None:
    head = "states: 200\nactions: 100\nobservations: 1\n"
    with calls_at_most(120_000), pytest.raises(Refused, match="too many times"):
        pomdp.parse(head + "T: * : * : * 0.005\n" * 20_000, "x")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"startprob": [0.6, 0.5]}, "row 1 of startprob adds up to 1.1"),
        ({"transmat": [[0.7, 0.3], [0.4, 0.5]]}, "row 2 of transmat adds up to 0.9"),
        ({"transmat": [[1.7, -0.7], [0.4, 0.6]]}, "transmat has a negative entry"),
        ({"transmat": [[float("nan"), 0.3], [0.4, 0.6]]}, "transmat has an entry"),
        ({"transmat": [[float("inf"), 0.3], [0.4, 0.6]]}, "transmat has an entry"),
        ({"transmat": [[1.0]]}, "transmat is no matrix of 2 states"),
        ({"transmat": "all"}, "transmat is no array of numbers"),
        ({"transmat": [[10**400, 0], [0, 1]]}, "transmat is no array of numbers"),
        ({"emissionprob": [[1.0]]}, "emissionprob has no row for each of 2"),
        ({"emissionprob": [[], []]}, "emissionprob has no row"),
        ({"startprob": 1}, "startprob is no row"),
        ({"startprob": [1 / 300] * 300}, "there are 300 states"),
        ({"states": ["a"]}, "there are not 2 names of states"),
        ({"states": ["start", "b"], "startprob": [0, 1]}, "has a state twice"),
        ({"ends": [0.1, 0.0]}, "it can end"),
    ],
)
def test_arrays_that_are_no_model_are_refused(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(arrays() | change))
    with pytest.raises(Refused) as refused:
        read(path)
    assert reason in str(refused.value)
    assert str(path) in str(refused.value)


def test_arrays_that_unpack_to_too_much_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("startprob.npy", bytes(2**26 + 1))
    with pytest.raises(Refused, match="larger than 64 MiB"):
        read(path)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "objects.npz"
    np.savez(path, startprob=np.array([{}]), transmat=STEP, emissionprob=SAY)
    with pytest.raises(Refused, match="file of plain arrays"):
        read(path)
    path.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(Refused, match="file of plain arrays"):
        read(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"start": [1.0, 0.0]}, "start has another shape"),
        ({"start": "first"}, "or other axes"),
        ({"matrices": [[["x"]]]}, "no real numbers"),
        ({"matrices": None}, "or other axes"),
        ({"letters": []}, "no letters"),
        ({"letters": 3}, "of another shape"),
        ({"actions": [0]}, "has no action"),
        ({"name": None, "states": ["A", "A"]}, "a state twice"),
    ],
)
def test_our_json_is_held_to_its_word(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    process = hidden_markov.find_by_name("RanHMM3,2@1")
    assert process is not None
    path = tmp_path / "own.json"
    path.write_text(json.dumps(json.loads(text(process)) | change))
    with pytest.raises(Refused, match=reason):
        read(path)
    said = json.loads(text(process))
    del said["matrices"]
    path.write_text(json.dumps(said))
    with pytest.raises(Refused, match="does not say its 'matrices'"):
        read(path)


def test_other_files_are_not_ours(tmp_path: Path) -> None:
    for name, content in (
        ("machine.json", '{"letters": ["a"], "format": "krohn-machine"}'),
        ("broken.json", "{"),
        ("deep.json", "[" * 100_000),
        ("list.json", "[1]"),
        ("machine.dot", "digraph {}"),
    ):
        (tmp_path / name).write_text(content)
        assert read(tmp_path / name) is None
    with pytest.raises(KrohnError, match="cannot be read"):
        read(tmp_path / "absent.pomdp")
    (tmp_path / "latin.pomdp").write_bytes("états".encode("latin-1"))
    with pytest.raises(KrohnError, match="not UTF-8"):
        read(tmp_path / "latin.pomdp")


WORDS = ("T:", "O:", ":", "*", "0", "1", "-1", "0.5", "nan", "uniform", "identity")
WORDS += (
    "start:",
    "start include:",
    "states:",
    "actions: 3",
    "tiger-left",
    "left",
    "\n",
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 120), st.sampled_from(WORDS)), max_size=4))
def test_a_damaged_file_is_a_model_or_refused_in_one_line(
    changes: list[tuple[int, str]],
) -> None:
    words = re.split(r"(\s+)", (EXAMPLES / "tiger.pomdp").read_text())
    for at, word in changes:
        words[at % len(words)] = f" {word} "
    reason = refused(lambda: pomdp.parse("".join(words), "damaged").filter([[0, 1, 0]]))
    assert "\n" not in reason
    assert len(reason) <= 300


def refused(read: Callable[[], object]) -> str:
    """The reason for which something is refused; nothing if it is not."""
    try:
        read()
    except Refused as reason:
        return str(reason)
    return ""


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["startprob", "transmat", "emissionprob", "states", "letters"]),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=6,
    ),
)
def test_any_value_of_an_array_is_a_model_or_refused(key: str, value: object) -> None:
    said = arrays() | {key: value}
    assert "\n" not in refused(lambda: arrays_of_files.model(said, "damaged"))
