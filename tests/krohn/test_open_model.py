"""Compiled models in memory: words side by side, and mistakes that get one line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.network import modelfile
from krohn.network.model import TIED, Model as Plain
from krohn.network.transformer import Transformer
from krohn.notebook import frame_page, table
from krohn.open_model import Model
from krohn.program import Program
from krohn.running import runner_of


@pytest.fixture(scope="module")
def compiled() -> CompiledModel:
    return krohn.compile("S3", 8)


@pytest.fixture(scope="module")
def net(compiled: CompiledModel) -> Model:
    return compiled.model


TURNSTILE = Path(__file__).parents[2] / "examples/turnstile.dot"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "observe"),
    [
        (TURNSTILE, None),
        (TURNSTILE, "outputs"),
        ("regex:(ab)*", None),
        ("regex:(ab)*", "outputs"),
        ("S3", None),
    ],
)
def test_it_says_what_the_command_says(
    source: object, observe: str | None, tmp_path: Path
) -> None:
    compiled = krohn.compile(source, 6, observe=observe)
    compiled.save(tmp_path / "m.safetensors")
    net, machine = krohn.load(tmp_path / "m.safetensors"), krohn.automaton(source)
    words = [[*net.letters[:2]] * 2, [*net.letters[-2:]] * 3, []]
    runner = runner_of(modelfile.read(tmp_path / "m.safetensors"))
    shown = [runner.run(word)["outputs"] for word in words]
    assert net.run(words) == shown == [list(machine.run(word)) for word in words]
    assert [net.run(word) for word in words] == shown
    if observe is None:
        said = [runner.run(word)["states"] for word in words]
        assert net.run(words, states=True) == said
    else:
        with pytest.raises(krohn.KrohnError, match="says no states"):
            net.run(words, states=True)


def test_a_letter_that_is_called_by_a_number_may_be_given_as_one() -> None:
    compiled = krohn.compile("C2", 4)
    model, right = compiled.model, compiled.machine.run("0110")
    for word in ([0, 1, 1, 0], np.array([0, 1, 1, 0]), ["0", 1, "1", np.int8(0)]):
        assert tuple(model.run(word)) == compiled.machine.run(word) == right  # type: ignore[arg-type]
        assert model.encode(word).tolist() == model.encode("0110").tolist()  # type: ignore[arg-type]
    for wrong in (3, True, 1.0):
        with pytest.raises(KrohnError, match=rf"{wrong}'? is not a letter"):
            model.run([0, wrong])  # type: ignore[list-item]
    counts = krohn.program("01")
    counts.output(counts.prefix_sum(counts.token() == "1"))
    assert counts.run([0, 1, 1]) == [0, 1, 2]  # type: ignore[list-item]


def test_what_is_no_answer_is_none_of_the_machine_either() -> None:
    net = krohn.compile(TURNSTILE, 6).model
    for tensor in net.parameters():
        tensor.data.zero_()
    assert net.run(["coin", "push"]) == [TIED] * 2


def test_what_compile_returns_is_open(compiled: CompiledModel) -> None:
    assert isinstance(compiled.model, Plain)
    assert isinstance(compiled.network, Transformer)
    assert compiled.network is compiled.model.network
    word = compiled.machine.letters
    assert compiled.model.run(word) == list(compiled.machine.run(word))
    assert krohn.verify(compiled, "S3").verdict == "verified"


@pytest.mark.slow
def test_generators_are_torch_modules_too() -> None:
    made = krohn.compile_generator("Dyck2,2", 6)
    assert made.network(torch.tensor([[0, 2, 1]])).shape[:2] == (1, 4)
    assert made.network is made.model.network
    with pytest.raises(ValueError, match="laws instead of states"):
        Plain(made.file)


def test_words_of_different_lengths_run_side_by_side(net: Model) -> None:
    a, b, *_ = net.letters
    words = [[a, b, a, a], [b], [], (b, b)]
    tokens, lengths = net.encode(words)
    assert tokens.shape == (4, 4)
    assert lengths.tolist() == [4, 1, 0, 2]
    assert net.run(words) == [net.run(word) for word in words]
    logits = net(words)
    assert logits.shape == (4, 4, 6)
    for row, word in zip(logits, words, strict=True):
        if word:
            assert torch.equal(row[: len(word)], net(word)[0])


def test_heads_that_see_the_whole_word_take_words_of_one_length() -> None:
    p = krohn.program("ab")
    x = p.token()
    p.output(p.final(x) == "a")
    net = krohn.compile(p, 5).model
    assert len(net.run([["a", "b"], ["b", "a"]])) == 2
    with pytest.raises(KrohnError, match="see the whole word"):
        net.encode([["a"], ["a", "b"]])


def test_another_format_is_not_proved(compiled: CompiledModel, tmp_path: Path) -> None:
    path = tmp_path / "s3.safetensors"
    compiled.save(path)
    with pytest.warns(UserWarning, match="in float64 nothing is proved"):
        wide = krohn.load(path, device="cpu", dtype="float64")
    assert next(wide.parameters()).dtype == torch.float64
    assert "float64, and nothing is claimed but of float32" in repr(wide)
    word = compiled.machine.letters
    assert wide.run(word) == krohn.load(path, dtype="float32").run(word)


def test_reprs_are_one_line(compiled: CompiledModel, net: Model) -> None:
    shown = "<CompiledModel S3: semidirect-car, T = 8, 2 layers, verified>"
    assert repr(compiled) == shown
    assert repr(net) == "<Model S3: Transformer, T = 8, 2 layers, float32>"
    assert repr(krohn.decompose("S3")).startswith("<Decomposed S3: ")
    assert repr(krohn.verify(compiled)).startswith("<Report S3: verified (proof): ")


@pytest.mark.slow
def test_notebooks_show_pictures_and_tables(compiled: CompiledModel) -> None:
    machine = krohn.automaton({"<b>": {"a&b": "<b>"}}, name="<script>")
    shown = [machine, krohn.decompose(machine), krohn.decompose("S3").found.cascade]
    for each in (*shown, compiled, compiled.model):
        picture = each._repr_svg_()
        assert picture.startswith("<svg")
        assert "<script>" not in picture
    written: list[Program] = []
    krohn.compile("C2", 4, on_pass=lambda _, program: written.append(program))
    page = written[-1]._repr_html_()
    assert page.count("<tr>") == len(written[-1].operations) + 1
    one = compiled.file.header["machine"]["states"][0]
    wrong = krohn.verify(compiled, _still(compiled.machine, "<i>"))._repr_html_()
    assert "refuted" in wrong
    assert one in wrong
    assert "<i>" not in wrong
    assert "<i>" not in table(("<i>",), [("<i>",)])
    assert frame_page('<p title="x">').count("<") == 2


def _still(machine: Automaton, name: str) -> Automaton:
    """A machine with the same names that never moves."""
    moves = {q: dict.fromkeys(machine.letters, q) for q in machine.states}
    return krohn.automaton(moves, machine.states[machine.start], name=name)


Call = Callable[[Model, Path], object]
MISTAKES: dict[str, tuple[Call, str]] = {
    "an unknown letter": (lambda m, _: m.run(["213", "x"]), r"'x'.*letter 2\)"),
    "an unknown letter in one word of many": (
        lambda m, _: m.run([["213"], ["213", "213", "x"]]),
        r"'x' is not a letter \(letter 3 of word 2\)",
    ),
    "a number for a letter": (lambda m, _: m.encode([-1]), "'-1' is not a letter"),  # type: ignore[list-item]
    "words that are strings": (lambda m, _: m.run(["213213"]), "'213213' is not"),
    "the token -1": (
        lambda m, _: m(torch.tensor([[0, -1]])),
        r"the token -1 is not a letter \(letter 2 of word 1\)",
    ),
    "the token of BOS": (
        lambda m, _: m(torch.tensor([[len(m.letters)]])),
        "the start symbol, which the network puts in front itself",
    ),
    "tokens without a batch": (lambda m, _: m(torch.tensor([0, 1])), "a row for each"),
    "tokens that are no whole numbers": (
        lambda m, _: m(torch.zeros(1, 2)),
        "whole numbers",
    ),
    "tokens on another device": (
        lambda m, _: m(torch.zeros(1, 2, dtype=torch.long, device="meta")),
        "the tokens are on meta, the network is on cpu",
    ),
    "a word that is too long": (lambda m, _: m.run(["213"] * 9), "up to 8 letters"),
    "a length of 0": (lambda *_: krohn.compile("S3", 0), "at least 1"),
    "no length": (lambda *_: krohn.compile("S3"), "needs the longest length"),
    "a name with a slip": (lambda *_: krohn.compile("S33", 4), "S33"),
    "a format that there is not": (
        lambda *_: krohn.compile("S3", 4, dtype="int8"),
        "no dtype 'int8'",
    ),
    "a format to load that there is not": (
        lambda _, path: krohn.load(path, dtype="int8"),
        "no dtype 'int8'",
    ),
    "a device that there is not": (
        lambda _, path: krohn.load(path, device="abacus"),
        "cannot run on device abacus",
    ),
    "no file": (lambda _, path: krohn.load(path / "x"), "directory|No such file"),
    "another machine": (
        lambda *_: krohn.verify(krohn.compile("C2", 3), "C3"),
        "letters",
    ),
    "a variable that there is not": (
        lambda m, _: m.patch(["213"], "count1", 1, 0),
        r"no variable 'count1' \(did you mean",
    ),
    "a position that there is not": (
        lambda m, _: m.patch(["213"], "h.count0", 2, 0),
        "no position 2 in a word of 1 letter, the first of which is at 1",
    ),
    "the position of BOS": (
        lambda m, _: m.patch(["213"], "h.count0", 0, 0),
        "at 0 is the start symbol",
    ),
    "a value that there is not": (
        lambda m, _: m.patch(["213"], "h.count0", 1, 7),
        "'h.count0' is never 7; its values after a letter are 0 → 123, 231 or 312; 1 → ",
    ),
    "no value": (lambda m, _: m.patch(["213"], "h.count0"), "a position and a value"),
    "two values at once": (
        lambda m, _: m.patch(["213"], [("h.count0", 1, 0), ("h.count0", 1, 1)]),
        "two values at one position",
    ),
    "a position without a value": (
        lambda m, _: m.patch(["213"], "h.count0", 1),
        r'as in patch\(word, "sum", 2, 1\)',
    ),
    "tokens for a word": (
        lambda m, _: m.patch(m.encode(["213"]), "h.count0", 1, 0),  # type: ignore[arg-type]
        "to a word of letters, not to tokens; leave encode out",
    ),
    "half an intervention": (
        lambda m, _: m.patch(["213"], [("h.count0", 1)]),  # type: ignore[list-item]
        "a position and a value",
    ),
    "a variable that is no name": (
        lambda m, _: m.patch(["213"], 5, 1, 0),  # type: ignore[arg-type]
        "called by its name, as 'stored', not by 5",
    ),
    "no word": (lambda m, _: m.run(None), "; None is neither"),  # type: ignore[call-overload]
    "a length that is no number": (
        lambda *_: krohn.compile("S3", "9"),  # type: ignore[arg-type]
        "whole number, not '9'",
    ),
    "an empty word": (
        lambda m, _: m.patch([], "h.count0", 1, 0),
        "at least one letter",
    ),
    "a head that there is not": (
        lambda m, _: m.ablate(["213"], "h.count0"),
        "no head writes 'h.count0'; heads write",
    ),
    "a place that there is not": (
        lambda m, _: m.run_with_hooks(["213"], {"stream.99": print}),
        "no place or variable 'stream.99'",
    ),
    "a hook that is no function": (
        lambda m, _: m.run_with_hooks(["213"], {"h.count0": 3}),  # type: ignore[dict-item]
        "the hook at h.count0 is 3; a function",
    ),
    "a compiled network where a path belongs": (
        lambda m, _: krohn.load(krohn.compile("C2", 2)),  # type: ignore[arg-type]
        "not a CompiledModel; `.model` of what krohn.compile returns",
    ),
    "a network file where a path belongs": (
        lambda m, _: krohn.load(m.file),  # type: ignore[arg-type]
        "the file of a path, not a ModelFile$",
    ),
    "a hook that returns another shape": (
        lambda m, _: m.run_with_hooks(["213"], {"stream.0": lambda x: x[:, :1]}),
        "the hook at stream.0 returned",
    ),
    "a place of a cache that there is not": (
        lambda m, _: m.run_with_cache(["213"])[1]["stream.99"],
        "no place or variable 'stream.99'",
    ),
    "hooks in an RNN": (
        lambda *_: krohn.compile("C2", arch="rnn").model.run_with_cache(["0"]),
        "only Transformers",
    ),
    "a picture of no format": (lambda *_: krohn.draw("S3", "x.bmp"), "picture format"),
    "an effort without effect": (lambda *_: krohn.draw("S3", effort=5), "eggbox"),
    "an egg-box of a network": (
        lambda m, _: krohn.draw(m.file, eggbox=True),
        "needs a machine",
    ),
    "a prompt for a machine": (lambda *_: krohn.draw("S3", word="213"), "word="),
    "a method that there is not": (lambda *_: krohn.decompose("S3", "x"), "'x'"),
}


@pytest.mark.sample(11)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_line(
    mistake: str, compiled: CompiledModel, net: Model, tmp_path: Path
) -> None:
    make, reason = MISTAKES[mistake]
    path = tmp_path / "s3.safetensors"
    compiled.save(path)
    with pytest.raises((KrohnError, ValueError, TypeError), match=reason) as caught:
        make(net, path)
    assert "\n" not in str(caught.value)
