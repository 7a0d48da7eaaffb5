"""Every call of an open network takes words in the same forms, and refuses alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from every_kind import NETWORKS, compiled

import krohn
from krohn.open_model import Model

Call = Callable[[Model, str, Any], Any]
CALLS: dict[str, Call] = {
    "run": lambda net, name, word: list(net.run(word)),
    "forward": lambda net, name, word: net(word).tolist(),
    "encode": lambda net, name, word: net.encode(word).tolist(),
    "read": lambda net, name, word: net.read(word, name).tolist(),
    "patch": lambda net, name, word: net.patch(word, name, 1, 1),
    "ablate": lambda net, name, word: net.ablate(word, name),
    "select read": lambda net, name, word: net.select(name).read(word).tolist(),
    "select patch": lambda net, name, word: net.select(name).patch(word, 1, 1),
    "select ablate": lambda net, name, word: net.select(name).ablate(word),
    "cache": lambda net, name, word: net.run_with_cache(word)[0].tolist(),
    "hooks": lambda net, name, word: net.run_with_hooks(word, {}).tolist(),
}


def with_variables(kind: str) -> tuple[Model, str]:
    """A network that reads letters and has variables, and the first of these."""
    net = compiled(kind).model
    if not net.letters or not net.places():
        pytest.skip("it has no letters, or no variables")
    return net, next(iter(net.places()))


def said(call: Call, *given: Any) -> object:
    """What a call returns, or how it refuses."""
    try:
        return call(*given)
    except krohn.KrohnError as error:
        return type(error), str(error)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_word_is_a_text_or_a_list_of_its_letters_in_every_call(kind: str) -> None:
    net, name = with_variables(kind)
    text = NETWORKS[kind][2]
    word = [net.letters[token] for token in net.encode(text)[0].tolist()]
    assert "".join(word) == text.replace(" ", "")
    for call in CALLS.values():
        assert said(call, net, name, text) == said(call, net, name, word)


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_wrong_letter_is_refused_in_the_same_words_by_every_call(kind: str) -> None:
    net, name = with_variables(kind)
    word = [net.letters[0], "@"]
    refusals = {said(call, net, name, word) for call in CALLS.values()}
    ((error, message),) = refusals  # type: ignore[misc]
    assert error is krohn.KrohnError
    assert message.startswith("'@' is not a letter (letter 2); the letters are ")
    many = [[net.letters[0]], word]
    for call in ("run", "forward", "encode", "read", "cache"):
        refused = said(CALLS[call], net, name, many)
        assert refused == (error, message.replace("(letter 2)", "(letter 2 of word 2)"))


def test_a_wrong_letter_of_a_text_is_refused_as_that_of_a_list() -> None:
    net = krohn.compile("S3", 4, proof=False).model
    name = next(iter(net.places()))
    expected = (
        krohn.KrohnError,
        "'@' is not a letter (letter 2); the letters are 213, 231, 132, 312, 321; a text "
        "has blanks between them",
    )
    for call in CALLS.values():
        assert said(call, net, name, "213 @") == expected
    machine = krohn.automaton("S3")
    assert said(machine.run, ["213", "@"])[1] == expected[1]  # type: ignore[index]


BITS = ".i 9\n.o 1\n0-------- p p 0\n1-------- p q 0\n--------- q p 1\n.e\n"


def test_letters_of_input_bits_are_read_alike_by_every_call(tmp_path: Path) -> None:
    (file := tmp_path / "two.kiss2").write_text(BITS)
    net = krohn.compile(file, 6, proof=False).model
    name = next(iter(net.places()))
    one = ["100000001", "0" * 9]
    for call in CALLS.values():
        assert said(call, net, name, one) == said(call, net, name, " ".join(one))
        _, message = said(call, net, name, [one[0], "1"])  # type: ignore[misc]
        assert (
            message
            == "'1' is not a letter (letter 2); a letter is 9 input bits, 0 or 1"
        )


@pytest.mark.sample(1)
@pytest.mark.parametrize("call", ["read", "patch", "ablate"])
def test_the_word_comes_first(call: str) -> None:
    net = krohn.compile("S3", 4, proof=False).model
    name = next(iter(net.places()))
    error, message = said(CALLS[call], net, "213", name)  # type: ignore[misc]
    assert error is krohn.KrohnError
    assert f"{name!r} is a variable; the word comes first: {call}(word, " in message


@pytest.mark.sample(5)
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_name_that_is_no_variable_is_refused_by_what_there_is(kind: str) -> None:
    net, name = with_variables(kind)
    word = NETWORKS[kind][2]
    answer = net.variables.answer
    asked: list[Callable[[], object]] = [
        lambda: net.places()["typo"],
        lambda: net.select(name).places["typo"],
        lambda: net.select("typo"),
        lambda: net.read(word, "typo"),
        lambda: net.run_with_cache(word)[1]["typo"],
    ]
    for ask in asked:
        with pytest.raises(KeyError) as caught:
            ask()
        assert isinstance(caught.value, krohn.KrohnError)
        message = str(caught.value)
        assert message.startswith("there is no ")
        assert f"variable 'typo'; {answer}; the variables are {name}" in message
        assert "`model.select()` prints all of them" in message
    assert net.places().get("typo") is None
    assert "typo" not in net.places()
    assert net.run_with_cache(word)[1].get("typo") is None


@pytest.mark.sample(5)
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_variables_of_the_answer_are_stored_at_the_end(kind: str) -> None:
    net, _ = with_variables(kind)
    outputs, places = net.variables.program.outputs, net.places()
    last = max(place.snapshots[1] for place in places.values())
    assert all(places[output].snapshots[1] == last for output in outputs)
    assert repr(net.select()).endswith(net.variables.answer)
    assert all(output in net.variables.answer for output in outputs[:8])


def test_a_value_of_the_start_alone_is_told_and_refused_in_the_same_words() -> None:
    net = krohn.compile("FFLTracker2", 3, "window", proof=False).model
    assert "3 → before the first letter" in repr(net.select("letter"))
    with pytest.raises(krohn.KrohnError) as caught:
        net.patch(["w"], "letter", 1, 3)
    assert str(caught.value) == (
        "'letter' is 3 before the first letter alone; its values after a letter are "
        "0 → r, i or 0; 1 → 1; 2 → w"
    )
    with pytest.raises(krohn.KrohnError, match="'letter' is never 7; its values after"):
        net.patch(["w"], "letter", 1, 7)


def test_a_value_that_one_of_several_selected_variables_never_has_is_refused() -> None:
    net = krohn.compile("FFLTracker2", 3, "window", proof=False).model
    with pytest.raises(
        krohn.KrohnError, match="to all 6 selected variables, so select"
    ):
        net.select().patch(["w"], 1, 3)


def test_tokens_are_a_word_too() -> None:
    net = krohn.compile("C3", 4, proof=False).model
    name = next(iter(net.places()))
    read = net.read(net.encode("121"), name)
    assert torch.equal(read, net.read("121", name))
