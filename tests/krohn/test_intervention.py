"""A network that is changed says what its Program says of the change."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from interventions import counted, some_words, total

import krohn
from krohn.intervention import read_program, why_unpredicted
from krohn.network.model import name_answers
from krohn.open_model import Model
from krohn.program import intervention
from krohn.program.interpreter import Held
from krohn.program.intervention import Gap

LENGTH = 6
NETWORKS = [("FlipFlop", None), ("S3", None), ("S3", "scan"), ("Grid4", None)]
OTHERS = [("S4", "cascade"), ("Dyck4,2", None), ("C7", None)]
BOTH = pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])


@cache
def model(name: str, construction: str | None, strict: bool = False) -> Model:
    how: dict[str, Any] = {"construction": construction} if construction else {}
    return krohn.compile(name, LENGTH, strict=strict, proof=False, **how).model


def several(net: Model, words: Any, share: float) -> tuple[Any, dict[str, Held]]:
    """All words, with every variable at some positions at values that are drawn."""
    rng = np.random.default_rng(1)
    shape, held = (len(words), LENGTH + 1), {}
    for name in net.places():
        where = rng.random(shape) < share
        where[:, 0] = False
        values = rng.choice(read_program(net).channels[name].later, size=shape)
        held[name] = Held(values, where)
    return words, held


@pytest.mark.sample(1)
@BOTH
@pytest.mark.parametrize(("name", "construction"), NETWORKS)
def test_every_variable_at_every_position_with_every_value(
    name: str, construction: str | None, strict: bool
) -> None:
    net = model(name, construction, strict)
    program = read_program(net)
    cases, agree, letters, known = total(net, some_words(net, 3, LENGTH))
    domains = [len(program.channels[v].later) for v in net.places()]
    assert agree == cases == 3 * LENGTH * sum(domains)
    assert known > 0.75 * letters  # the rest has values that never meet


@pytest.mark.slow
@pytest.mark.sample(1)
@BOTH
@pytest.mark.parametrize(("name", "construction"), OTHERS)
def test_other_constructions_agree(
    name: str, construction: str | None, strict: bool
) -> None:
    net = model(name, construction, strict)
    cases, agree, letters, known = total(net, some_words(net, 1, LENGTH))
    assert agree == cases
    assert known > 0.5 * letters


@pytest.mark.sample(1)
@BOTH
@pytest.mark.parametrize(("name", "construction"), [*NETWORKS, *OTHERS])
def test_several_at_once(name: str, construction: str | None, strict: bool) -> None:
    net = model(name, construction, strict)
    for share in (0.02, 0.1, 0.4):
        cases, agree, _, known = counted(
            net, *several(net, some_words(net, 200, LENGTH), share)
        )
        assert agree == cases
        assert known > 0


def test_what_one_mlp_computes_anew_does_not_read_the_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The prediction is of the network's places, and not of the Program alone."""
    net = model("S3", None)

    def everywhere(
        program: Any, words: Any, held: Any, born: Any, evaluate: Any
    ) -> Any:
        return interpret(program, words, held, {}, evaluate)

    interpret = intervention.interpret
    monkeypatch.setattr(intervention, "interpret", everywhere)
    cases, agree, *_ = total(net, some_words(net, 3, LENGTH))
    assert agree < cases


@pytest.mark.slow
def test_tables_of_the_letter_belong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they do not, the network may say anything, and nothing is predicted."""
    net = model("S4", "cascade")
    monkeypatch.setattr(intervention, "letter_tables", lambda *_: [])
    cases, agree, *_ = total(net, some_words(net, 1, LENGTH))
    assert agree < cases


@pytest.mark.sample(1)
@BOTH
@pytest.mark.parametrize(("name", "construction"), [*NETWORKS, *OTHERS])
def test_heads_are_ablated_as_predicted(
    name: str, construction: str | None, strict: bool
) -> None:
    net = model(name, construction, strict)
    word = [net.letters[a] for a in some_words(net, 1, LENGTH)[0]]
    heads = {v: place for v, place in net.places().items() if place.head is not None}
    for variable, place in heads.items():
        found = net.ablate(word, variable)
        assert found.agrees is not False
        if place.code == "one-hot":
            assert found.agrees is None


def test_one_word_by_name() -> None:
    net = krohn.compile("FlipFlop", LENGTH).model
    (variable,) = (v for v, place in net.places().items() if place.head is not None)
    word = ["1", "⊥", "⊥", "⊥"]
    found = net.patch(word, variable, 2, 1)
    assert found.before == tuple(net.run(word)) == ("1",) * 4
    assert found.answers == found.predicted == ("1", "2", "1", "1")
    assert found.agrees
    assert (
        repr(found)
        == f"<Outcome {variable} = 1 at 2: 1 → 2 after letter 2; as predicted, "
        "4 of 4 letters predicted>"
    )
    both = net.patch(word, [("written", 1, 1), (variable, 4, 0)])
    assert both.answers == both.predicted == ("2", "2", "2", "1")


def test_what_is_not_predicted_is_not_as_predicted() -> None:
    """The reason says what belongs together; letters before the change prove nothing."""
    parity = {
        "even": {"flip": "odd", "keep": "even", "reset": "even"},
        "odd": {"flip": "even", "keep": "odd", "reset": "even"},
    }
    net = krohn.compile(parity, LENGTH, "cascade", proof=False).model
    word = ["flip", "reset", "flip", "keep"]
    found = net.patch(word, "node1", 3, 1)
    assert found.predicted == ("odd", "even", None, None)
    assert found.agrees is None
    assert repr(found) == (
        "<Outcome node1 = 1 at 3: odd → even after letter 3 and 1 more; the 2 predicted "
        "answers agree; the change after letter 3 is not predicted: no letter gives "
        "increment0 = 1 and node1 = 1, as after letter 3; change them together>"
    )
    both = net.patch(word, [("node1", 3, 1), ("increment0", 3, 0)])
    assert (both.agrees, both.reason) == (True, "")
    assert repr(net.patch(word, "node1", 1, 1)).partition("nothing is predicted: ")[1]


@pytest.mark.slow
def test_the_reason_is_that_of_the_first_letter_without_prediction() -> None:
    """Kinds of reasons: tables of a letter, an answer."""
    machines = ["S3", "S4", "Dyck4,2", "Grid4"]
    reasons = list[str]()
    for name, how in [
        *((m, None) for m in machines),
        ("S3", "scan"),
        ("S4", "cascade"),
    ]:
        net = model(name, how)
        program = read_program(net)
        word = [net.letters[a] for a in some_words(net, 1, LENGTH)[0]]
        for variable, place in net.places().items():
            values = program.channels[variable].later[:4].tolist()
            found = [net.patch(word, variable, 2, value) for value in values]
            found += [net.ablate(word, variable)] if place.head is not None else []
            for each in found:
                assert (each.reason == "") == (None not in each.predicted)
                reasons += [each.reason]
    for kind in (
        "no letter gives ",
        "stand for no answer",
    ):
        assert any(kind in each for each in reasons), kind


def test_a_row_that_a_table_lacks_is_named() -> None:
    net = model("S3", None)
    word = torch.tensor([[0, 1]])
    found = intervention.predict(read_program(net), word.numpy(), {})
    assert found.gap is None
    lacks = found._replace(gap=Gap(2, "x", {"a": 1, "b": 2}))
    assert why_unpredicted(net, lacks, 2) == (
        "a = 1 and b = 2 never occur together, as after letter 2"
    )
    outside = found._replace(gap=Gap(1, "x", {}, value=7))
    assert why_unpredicted(net, outside, 1) == (
        "after letter 1 x would be 7, which it never is"
    )
    alone = found._replace(gap=Gap(0, "x", {"a": 1}))
    assert why_unpredicted(net, alone, 1) == (
        "a = 1 never occurs, as before the first letter"
    )


def test_a_head_that_writes_what_is_never_0_is_named() -> None:
    machine = {
        "c0": {"coin": "c1", "drink": "c0"},
        "c1": {"coin": "c2", "drink": "c0"},
        "c2": {"coin": "c2", "drink": "c1"},
    }
    net = krohn.compile(machine, 32, "scan", proof=False).model
    found = net.ablate(["coin", "drink"], "back1[0]")
    assert (found.agrees, found.predicted) == (None, (None, None))
    assert found.reason == (
        "head 0 of block 0 also writes back1[2]; without the head it would be 0, which "
        "it never is"
    )


def test_patches_answer_in_states() -> None:
    vending = {"c0": {"coin": "c1", "push": "c0"}, "c1": {"coin": "c1", "push": "c0"}}
    says = {"c0": {"coin": "", "push": "blink"}, "c1": {"coin": "back", "push": "can"}}
    net = krohn.compile(vending, LENGTH, outputs=says, proof=False).model
    word = ["coin", "push", "push"]
    found = net.patch(word, next(iter(net.places())), 2, 0)
    assert found.before == tuple(net.run(word, states=True)) == ("c1", "c0", "c0")
    assert tuple(net.run(word)) == ("", "can", "blink")


@pytest.mark.slow
def test_a_permutation_in_three_variables() -> None:
    """A scan holds a map point by point: one point alone makes no map of S3."""
    net = model("S3", "scan")
    names = [v for v in net.places() if v.startswith("map")][-3:]
    word = [net.letters[a] for a in some_words(net, 1, LENGTH)[0]]
    for state in range(6):
        images = [int(c) - 1 for c in net.states[state]]
        found = net.patch(word, [(v, 4, images[i]) for i, v in enumerate(names)])
        assert found.agrees
    alone = net.patch(word, names[0], 4, 0).predicted
    others = [net.patch(word, names[0], 4, x).predicted for x in (1, 2)]
    assert any(p[3] is None for p in (alone, *others))


def test_the_cache_is_what_the_network_computes() -> None:
    net = model("S3", "scan")
    words = [[net.letters[a] for a in row] for row in some_words(net, 3, LENGTH)]
    words[1] = words[1][:2]
    logits, cache = net.run_with_cache(words)
    told = net.encode(words)
    assert torch.equal(logits, net(words))
    assert cache.lengths.tolist() == [6, 2, 6]
    streams = net.network.snapshots(told.tokens)
    assert all(torch.equal(cache[f"stream.{i}"], x) for i, x in enumerate(streams))
    for variable in net.places():
        assert torch.equal(cache[variable], net.read(told.tokens, variable))
    pattern = cache["blocks.0.attention.pattern"]
    assert pattern.shape[2:] == (7, 7)
    assert torch.allclose(pattern.sum(-1), torch.ones(()))
    assert pattern.triu(1).abs().max() == 0
    taken = pattern @ cache["blocks.0.attention.value"]
    assert torch.allclose(taken, cache["blocks.0.attention.taken"], atol=1e-5)
    assert set(cache) == {*net.hook_places(), *net.places()}
    assert repr(cache).startswith("<Activations of 3 words: ")


def test_hooks_may_look_and_change() -> None:
    net = model("FlipFlop", None)
    word = ["1", "⊥", "2", "⊥"]
    seen: list[Any] = []
    quiet = net.run_with_hooks(word, {"stored": seen.append, "stream.0": seen.append})
    assert torch.equal(quiet, net(word))
    assert sorted(x.dim() for x in seen) == [2, 3]
    flipped = net.run_with_hooks(word, {"stored": lambda values: 1 - values})
    assert name_answers(flipped[0], net.classes) == ("2", "2", "1", "1")

    def only_bos(pattern: Any) -> Any:
        start = torch.zeros_like(pattern)
        start[..., 0] = 1
        return start

    reset = net.run_with_hooks(word, {"blocks.0.attention.pattern": only_bos})
    assert set(name_answers(reset[0], net.classes)) == {net.states[0]}
