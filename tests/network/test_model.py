"""A model answers words of its letters, up to its length, and nothing else."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import krohn
from krohn.network.cache import Tree

Build = Callable[..., Any]


def test_words_by_name(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("Grid4", "scan", 4).pack()))
    machine = krohn.zoo("Grid4")
    word = [machine.letters[i] for i in (1, 1, 0, 1)]
    expected = machine.semiautomaton.run(word, machine.start)
    assert model.run(word) == list(expected)
    assert model.run([]) == []
    assert (model.letters, model.states) == (machine.letters, machine.states)
    assert model.length == 4


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", ["scan", "sequential"])
def test_longer_words_are_refused(
    parts: Build, place: Build, construction: str
) -> None:
    model = krohn.load(place(parts("Grid4", construction, 4).pack()))
    letter = model.letters[0]
    assert len(model.run([letter] * 4)) == 4
    with pytest.raises(krohn.KrohnError, match=r"up to 4 letters.*length=5") as caught:
        model.run([letter] * 5)
    assert "\n" not in str(caught.value)
    with pytest.raises(krohn.KrohnError, match="up to 4 letters"):
        model(torch.zeros((2, 9), dtype=torch.long))


def test_an_rnn_has_no_longest_word(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("C3", "elman").pack()))
    assert model.length is None
    assert model.run(["1"] * 500)[-1] == str(500 % 3)
    assert model.places() == {}


@pytest.mark.sample(1)
@pytest.mark.parametrize("letter", ["x", "", "0 ", "L\n"])
def test_unknown_letters_are_refused(parts: Build, place: Build, letter: str) -> None:
    model = krohn.load(place(parts("C3", "scan", 4).pack()))
    with pytest.raises(krohn.KrohnError, match="is not a letter") as caught:
        model.run(["1", letter])
    assert "\n" not in str(caught.value)
    assert "0, 1, 2" in str(caught.value)


def test_unknown_variables_are_refused(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("C3", "scan", 4).pack()))
    with pytest.raises(
        krohn.KrohnError, match=r"no variable 'nothing'.* are map0\[0\], "
    ):
        model.read(torch.tensor([[0]]), "nothing")


def test_a_variable_is_read_for_words_as_for_their_tokens(tmp_path: Path) -> None:
    krohn.compile("FlipFlop", 8, proof=False).save(file := tmp_path / "f.safetensors")
    net = krohn.load(file)
    a, b = net.letters[:2]
    words = [[a, b], [b, a]]
    tokens = net.encode(words).tokens
    name = next(iter(net.places()))
    assert torch.equal(net.read(words, name), net.read(tokens, name))
    assert torch.equal(net.read(words[0], name), net.read(tokens[:1], name))
    with pytest.raises(krohn.KrohnError, match="not a letter"):
        net.read(["nothing"], name)
    with pytest.raises(krohn.KrohnError, match="up to 8 letters"):
        net.read([a] * 9, name)


@pytest.mark.slow
def test_a_text_is_a_word_as_the_command_takes_it(tmp_path: Path) -> None:
    krohn.compile("examples/turnstile.dot", 8, "cascade").save(f := tmp_path / "f.st")
    net = krohn.load(f)
    word = ["coin", "card", "push"]
    name = next(iter(net.places()))
    for text in ("coin card push", "coin, card, push", '["coin", "card", "push"]'):
        assert torch.equal(net.encode(text), net.encode(word))
        assert list(net.run(text)) == list(net.run(word))
        assert torch.equal(net.read(text, name), net.read(word, name))
        patched = net.patch(text, name, 1, 1)
        assert patched.word == tuple(word)
        assert patched == net.patch(word, name, 1, 1)


def test_the_variable_of_the_answer_has_names_for_its_values(tmp_path: Path) -> None:
    krohn.compile("examples/turnstile.dot", 8, "cascade").save(f := tmp_path / "f.st")
    net = krohn.load(f)
    (name,) = net.header["program"]["outputs"]
    values = net.places()[name].values
    word = ["coin", "card", "push", "push"]
    said = [values[v] for v in net.read(word, name)[0, 1:].tolist()]
    assert said == list(net.run(word, states=True))


def test_places_say_what_they_hold(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("FlipFlop", "memory", 4).pack()))
    stored = model.places()["stored"]
    assert stored.code == "integer"
    assert stored.head == 0
    assert stored.operation["op"] == "latest"
    assert stored.dims[1] - stored.dims[0] == 1


@pytest.mark.parametrize("construction", ["scan", "elman"])
def test_caches_can_be_shared_by_words_with_a_common_beginning(
    parts: Build, place: Build, construction: str
) -> None:
    length = None if construction == "elman" else 3
    model = krohn.load(place(parts("C3", construction, length).pack()))
    _, cache = model.network.step(torch.tensor([1]), model.network.start())
    parts = tuple(part[[0, 0, 0]] for part in cache.parts)
    three = replace(cache, parts=parts, rooms=())
    logits, _ = model.network.step(torch.tensor([0, 1, 2]), three)
    assert logits.argmax(-1).tolist() == [1, 2, 0]
    assert cache.seen == three.seen


def test_an_rnn_step_by_step_is_the_rnn(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("Grid4", "elman").pack()))
    word = torch.tensor([[0, 1, 1, 0, 1, 1, 1]])
    cache = model.network.start()
    for t in range(7):
        logits, cache = model.network.step(word[:, t], cache)
        assert torch.equal(logits, model(word)[:, t])


TREES = [Tree(3), Tree(2, 3), Tree(1, 4), Tree(3, 2)]


def continued(
    model: Any, tree: Tree, alike: bool = False
) -> tuple[torch.Tensor, torch.Tensor, Any]:
    """Two words and all their continuations: logits, and the caches of the leaves."""
    starts = torch.tensor([[0, 1], [1, 1]])
    cache = model.network.start(2)
    for t in range(2):
        _, cache = model.network.step(starts[:, t], cache)
    tokens = torch.arange(tree.branches) if alike else tree.last.expand(2, -1)
    logits, grow = model.network.branch(tokens, cache, tree)
    paths = tree.last[tree.paths]
    words = [torch.cat([start.expand(len(paths), -1), paths], 1) for start in starts]
    return logits, torch.cat(words), grow


@pytest.mark.sample(1)
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("construction", ["scan", "sequential", "elman"])
def test_a_tree_of_continuations_is_every_word_by_itself(
    parts: Build, place: Build, construction: str, tree: Tree, alike: bool
) -> None:
    length = None if construction == "elman" else 7
    model = krohn.load(place(parts("C3", construction, length).pack()))
    logits, words, grow = continued(model, tree, alike)
    along = logits[:, tree.paths].flatten(0, 1)
    torch.testing.assert_close(along, model(words)[:, 2:], rtol=1e-4, atol=1e-3)
    cache = grow(0, len(words))
    some = grow(2, len(words) - 1)
    for part, chosen in zip(cache.parts, some.parts, strict=True):
        assert torch.equal(part[2:-1], chosen)
    one_more = torch.ones((len(words), 1), dtype=torch.long)
    after, _ = model.network.step(one_more[:, 0], cache)
    expected = model(torch.cat([words, one_more], 1))[:, -1]
    torch.testing.assert_close(after, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.sample(1)
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("construction", ["scan", "elman"])
@pytest.mark.parametrize("tree", [Tree(3), Tree(3, 3)])
def test_a_broken_letter_spoils_the_words_that_hold_it_and_no_others_beside_it(
    parts: Build, place: Build, tree: Tree, construction: str, value: float, alike: bool
) -> None:
    length = None if construction == "elman" else 7
    model = krohn.load(place(parts("C3", construction, length).pack()))
    network = model.network
    fine = continued(model, tree, alike)[0]
    letters = network.input if construction == "elman" else network.token
    letters[2] = value
    broken = continued(model, tree, alike)[0]
    holds = (tree.last[tree.paths] == 2).cummax(dim=1).values.expand(2, -1, -1)
    finite = broken[:, tree.paths].isfinite().all(-1)
    assert not (finite & holds).any()
    if tree.generations == 1 or construction == "elman":
        assert torch.equal(finite, ~holds)
        assert torch.equal(broken[:, tree.paths][finite], fine[:, tree.paths][finite])


def test_nodes_of_a_tree_are_numbered_by_generation() -> None:
    tree = Tree(2, 2)
    assert (tree.sizes, tree.nodes) == ([2, 4], 6)
    assert tree.depth.tolist() == [0, 0, 1, 1, 1, 1]
    assert tree.last.tolist() == [0, 1, 0, 1, 0, 1]
    assert tree.paths.tolist() == [[0, 2], [0, 3], [1, 4], [1, 5]]
    assert (~tree.strangers).sum(1).tolist() == [1, 1, 2, 2, 2, 2]
    assert (tree.kind.tolist(), tree.kinds.tolist()) == (
        [0, 1, 2, 3, 2, 3],
        [0, 1, 2, 3],
    )
    assert tree.above.tolist() == [[0, 0], [1, 1], [2, 0], [3, 0], [4, 1], [5, 1]]


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["scan", "sequential"])
def test_a_cache_goes_on_in_several_ways(
    parts: Build, place: Build, construction: str
) -> None:
    """Caches share their room: what one writes no other one reads, bit for bit."""
    model = krohn.load(place(parts("S3", construction, 7).pack()))
    network, letters = model.network, len(model.letters)

    def read(word: tuple[int, ...]) -> torch.Tensor:
        cache = network.start()
        for letter in word:
            logits, cache = network.step(torch.tensor([letter]), cache)
        return logits

    alone = {w: read(w) for n in (1, 2, 3) for w in product(range(letters), repeat=n)}
    caches = {(): network.start()}
    for word, expected in alone.items():
        logits, caches[word] = network.step(torch.tensor(word[-1:]), caches[word[:-1]])
        assert torch.equal(logits, expected)


def test_what_inference_mode_remembers_goes_on_outside(
    parts: Build, place: Build
) -> None:
    network = krohn.load(place(parts("C3", "scan", 5).pack())).network
    letter = torch.tensor([1])
    with torch.inference_mode():
        _, cache = network.step(letter, network.start())
    logits, cache = network.step(letter, cache)
    again, _ = network.step(letter, network.step(letter, network.start())[1])
    assert torch.equal(logits, again)
