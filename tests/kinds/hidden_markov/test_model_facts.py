"""The facts on hidden Markov models, and on the depth of their networks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from work import calls_at_most

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov import (
    source as hidden_markov,
    source_files as files,
    source_pomdp as pomdp,
    source_structure as structure,
)
from krohn.kinds.hidden_markov.commands_facts import (
    belief_machine,
    facts,
    gamma,
)
from krohn.kinds.hidden_markov.source_beliefs import reachable
from krohn.kinds.hidden_markov.source_structure import observation_operator

Call = Callable[..., tuple[int, Any]]
EXAMPLES = Path(__file__).parents[3] / "examples"


def depth(name: str) -> str:
    sentences = facts(krohn.hidden_markov(name))["depth_growth"]
    assert "log₂ T" in sentences[-1]
    return " ".join(sentences[:-1])


def test_depth_is_constant_where_the_groups_of_the_beliefs_are_solvable() -> None:
    assert "(Theorem 11; star-free" in depth("GoldenMean")
    assert "are solvable (Theorem 11; ACC⁰)" in depth("EvenProcess")
    assert "are solvable" in depth("Cyclic-HARD3,2@1")


@pytest.mark.slow
def test_depth_is_logarithmic_where_they_are_not() -> None:
    assert "unless TC⁰ = NC¹" in depth("Cyclic-DET5,5@3")
    found = facts(krohn.hidden_markov("Cyclic-HARD5,5@3"))
    assert found["beliefs"] == 76
    assert "unless TC⁰ = NC¹" in found["depth_growth"][1]


@pytest.mark.slow
def test_depth_is_constant_within_an_error_where_all_words_forget() -> None:
    found = depth("RanHMM5,5@3")
    assert "every word of 1 letter brings beliefs closer" in found
    assert "every word of 4 letters" in depth("Cyclic-RND5,5@3")


@pytest.mark.slow
def test_depth_is_not_known_to_be_constant_where_a_word_keeps_beliefs_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "it is not known whether a depth that does not grow" in depth(
        "Cyclic-RND4,2@3"
    )
    monkeypatch.setattr(structure, "MOST_STEPS", 100)
    assert "not decided" in depth("Cyclic-RND5,5@3")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("Cyclic-DET5,5@3", "observability", None),
        ("RRXOR", "observability", {"gamma": pytest.approx(0.25), "steps": 4}),
        ("RanHMM4,2@1", "rank", 4),
        ("Mess3", "contraction", pytest.approx(17 / 19)),
        ("RRXOR", "properties", ["unifilar", "synchronising"]),
    ],
)
def test_facts_are_numbers(name: str, key: str, value: Any) -> None:
    assert facts(krohn.hidden_markov(name))[key] == value


def test_a_file_has_facts_too() -> None:
    tiger = files.read(EXAMPLES / "tiger.pomdp")
    assert tiger is not None
    found = facts(tiger)
    assert found["properties"] == ["driven"]
    assert found["mixing_time"]["letters"] in (2, 3)
    assert found["observability"]["gamma"] == pytest.approx(0.7 / 3)


def test_the_machine_of_beliefs_follows_the_filter() -> None:
    source = krohn.hidden_markov("RRXOR")
    beliefs, machine = reachable(source), belief_machine(source)
    assert beliefs is not None
    for word in source.sample(3, 15, np.random.default_rng(0))[0].tolist():
        state = machine.start
        for letter, law in zip(word, source.filter([word])[0][0], strict=True):
            state = int(machine.transitions[letter, state])
            assert np.allclose(beliefs.laws[state], law, atol=1e-12)
            certain = law.max() == 1
            assert (machine.states[state] in source.states) == certain


def test_commands_that_take_machines_take_the_machine_of_beliefs(call: Call) -> None:
    assert call("decompose", "GoldenMean")[0] == 0
    assert krohn.read("RRXOR").states[-1] == "impossible"
    assert len(krohn.read("RRXOR").states) == 37
    assert "impossible" not in krohn.read("Cyclic-DET5,5@3").states


def test_explain_says_them(call: Call) -> None:
    code, told = call("explain", str(EXAMPLES / "tiger.pomdp"))
    assert code == 0
    assert told["name"] == "tiger"
    assert told["properties"] == ["driven"]
    assert told["depth_growth"][0].startswith("it is not known whether a depth")
    code, told = call("explain", "GoldenMean", "-T", "20")
    assert (code, told["beliefs"]) == (0, 3)
    assert told["construction"].startswith("beliefs")


def test_a_file_is_compiled_like_a_name(call: Call, tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text(files.text(krohn.hidden_markov("GoldenMean")))
    out = tmp_path / "g.safetensors"
    code, told = call("compile", tmp_path / "golden.json", "-T", "16", "-o", out)
    assert (code, told["verdict"]) == (0, "verified")
    assert call("verify", out, "--proof", "--sample", "20")[1]["verdict"] == "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "properties"),
    [
        ("Mess3", ["forgetting"]),
        (
            "FlipFlop",
            ["driven", "linear", "deterministic", "unifilar", "synchronising"],
        ),
        ("Cyclic-RND5,5@3", ["driven", "linear", "forgetting"]),
        (EXAMPLES / "tiger.pomdp", ["driven"]),
        (EXAMPLES / "turnstile.dot", ["driven", "linear", "deterministic", "unifilar"]),
    ],
)
def test_all_that_is_a_model_is_read_as_one(
    source: str | Path, properties: Any
) -> None:
    found = facts(krohn.hidden_markov(source))["properties"]
    assert [p for p in found if p in properties] == properties


@pytest.mark.parametrize("source", ["MatMul5,5@3", "program:reverse", "nothing"])
def test_other_sources_are_no_models(source: str) -> None:
    with pytest.raises(KrohnError):
        krohn.hidden_markov(source)


@pytest.mark.slow
def test_explain_says_the_mixing_time_of_a_linear_system(call: Call) -> None:
    code, told = call("explain", "Cyclic-RND5,5@3:epsilon=0.1", "-T", "32")
    assert code == 0
    assert abs(told["mixing_time"]["letters"] - 23) < 3
    assert told["construction"] == "products"


@pytest.mark.slow
def test_a_small_file_of_a_large_model_costs_little() -> None:
    """256 states and 40 letters, from five lines."""
    head = "states: 256\nactions: 1\nobservations: 40\n"
    large = pomdp.parse(head + "T: * uniform\nO: * uniform\n", "large")
    with calls_at_most(4_000_000):
        found = facts(large)
    assert found["forgets_after"] == 1
    assert found["beliefs"] is None
    assert found["rank"] == 1


def test_letters_that_name_the_state_are_fully_observable() -> None:
    assert gamma(np.eye(4)) == pytest.approx(1)


def test_two_states_are_as_observable_as_their_laws_are_apart() -> None:
    laws = np.array([[0.7, 0.2], [0.3, 0.8]])
    assert gamma(laws) == pytest.approx(0.5)


def test_states_that_say_the_same_are_not_observable() -> None:
    laws = np.array([[0.5, 0.2, 0.5], [0.5, 0.8, 0.5]])
    assert gamma(laws) == pytest.approx(0, abs=1e-9)


def test_no_two_laws_are_nearer_and_some_are_as_near() -> None:
    generator = np.random.default_rng(3)
    for _ in range(5):
        laws = generator.dirichlet(np.full(4, 0.3), 3).T
        apart = np.diff(generator.dirichlet(np.full(3, 0.3), (20000, 2)), axis=1)[:, 0]
        norms = np.abs(apart).sum(axis=1)
        ratios = np.abs(apart @ laws.T).sum(axis=1)[norms > 1e-9] / norms[norms > 1e-9]
        assert ratios.min() >= gamma(laws) - 1e-9
        assert ratios.min() <= gamma(laws) + 0.02


def test_more_states_than_letters_need_more_steps() -> None:
    """Weakly revealing: one letter does not tell 4 states apart, three letters do."""
    source = hidden_markov.find_by_name("RanHMM4,2@1")
    assert source is not None
    assert gamma(observation_operator(source)) == pytest.approx(0, abs=1e-9)
    assert gamma(observation_operator(source, 3)) > 1e-4


def test_too_many_states_are_refused_at_once() -> None:
    with pytest.raises(KrohnError, match="up to 12 states"):
        gamma(np.eye(40))
