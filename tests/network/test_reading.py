"""Networks read letter by letter by numpy as torch reads them, and torch reads the rest."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from many_digits import exactly

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network import ModelFileError, modelfile, reading
from krohn.network.cache import ONE, Tree
from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.net import Net
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.reading import (
    IntArray,
    choose_classes,
    decode,
    name_chosen_classes,
    output_function,
    plain_reader,
)
from krohn.network.stepping import stepping
from krohn.program.architectures.transformer import Transformer
from krohn.program.word_texts import BLANK
from krohn.running import runner_of
from krohn.source_kinds.written_texts import reader
from krohn.verify.checker.arithmetic import (
    FARTHEST,
    FORMATS,
    GATE,
    SINE,
    SMALL,
    gelu_units,
)
from krohn.verify.checker.block_sum import SILENT_ERROR

CAUSAL = (
    *(("FlipFlop", 70, {}), ("C2", 40, {}), ("S3", 33, {}), ("Grid4", 20, {})),
    *(("PermReset3", 20, {}), ("S3", 20, {"dtype": "float64"})),
    *(("D4", 16, {"strict": True}), ("S3", 12, {"disguise": "rotate,dense"})),
    *(("C4", 8, {"activation": name}) for name in ("sine", "gelu")),
    *(("LCS2,2", None, {"attention": kind}) for kind in ("linear", "sparse")),
)
WHOLE = tuple((f"program:{name}", 6, {}) for name in ("histogram", "reverse", "sort"))
RECURRENT = (
    *(("S3", None, {"arch": arch}) for arch in ("rnn", "lstm", "gru")),
    ("S3", None, {"arch": "rnn", "dtype": "float64"}),
    ("C4", 8, {"arch": "ssm"}),
    ("Q8", None, {"arch": "ssm", "construction": "selective", "dtype": "float64"}),
)
BY_TORCH = (*(("S3", 8, {"dtype": dtype}) for dtype in ("bfloat16", "float16")),)
Case = tuple[str, int | None, dict[str, Any]]


def file_of(case: Case) -> ModelFile:
    name, length, how = case
    told = () if length is None else (length,)
    return krohn.compile(name, *told, proof=False, **how).file


def words_of(file: ModelFile, count: int, length: int) -> IntArray:
    shape = file.architecture
    letters = shape.vocabulary - isinstance(shape, Transformer)
    return np.random.default_rng(0).integers(letters, size=(count, length))


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CAUSAL + RECURRENT, ids=str)
def test_logits_are_those_of_torch(case: Case) -> None:
    """Whole numbers are the same; what is rounded differs by the order of sums alone."""
    file = file_of(case)
    begin = plain_reader(file)
    assert begin is not None
    words = words_of(file, 3, modelfile.longest(file) or 50)
    network = Model(file).network
    with torch.no_grad():
        right = network(torch.from_numpy(words)).double().numpy()
    texts, by_torch = begin(3), stepping(network)(3)
    at_once = begin(3).read_on(words)
    unit = file.precision.unit
    for t, letters in enumerate(words.T):
        said, stepped = texts.read(letters), by_torch.read(letters)
        assert said.dtype == file.precision.name
        for other in (right[:, t], stepped, at_once[:, t]):
            np.testing.assert_allclose(said, other, rtol=0, atol=2**14 * unit)
            assert (said.argmax(axis=1) == other.argmax(axis=1)).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CAUSAL + WHOLE + RECURRENT, ids=str)
def test_of_no_words_nothing_is_said(case: Case) -> None:
    file = file_of(case)
    network, none = Model(file).network, np.zeros((0, 3), np.int64)
    with torch.no_grad():
        empty = network(torch.zeros((3, 0), dtype=torch.int64))
    assert empty.shape[:2] == (3, 0)
    assert output_function(file)(none).shape[:2] == none.shape
    with torch.no_grad():
        assert network(torch.from_numpy(none)).shape[:2] == none.shape
        if case not in WHOLE:
            for tree in (ONE, Tree(2, 2)):
                tokens = torch.zeros((0, tree.nodes), dtype=torch.int64)
                logits, grow = network.branch(tokens, network.start(0), tree)
                assert logits.shape[:2] == tokens.shape
                assert grow(0, 0).seen == network.start(0).seen + tree.generations


@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_heads_that_see_the_whole_word_read_words_alone(case: Case) -> None:
    file = file_of(case)
    words = words_of(file, 3, 6)
    with torch.no_grad():
        right = Model(file).network(torch.from_numpy(words)).numpy()
    atol = 2**14 * file.precision.unit
    np.testing.assert_allclose(output_function(file)(words), right, rtol=0, atol=atol)
    refusals = set()
    for begin in (plain_reader(file), stepping(Model(file).network)):
        assert begin is not None
        with pytest.raises(ModelFileError, match="and not letter by letter") as refused:
            begin(3).read(words[:, 0])
        refusals.add(str(refused.value))
    assert len(refusals) == 1


def test_what_is_beyond_a_word_is_absent() -> None:
    """Logits of 8 letters are those of a network whose position 9 is like any other."""
    file = file_of(("S3", 20, {}))
    words = words_of(file, 4, 20)
    right = output_function(file)(words)
    tensors = dict(file.tensors)
    for number in (np.inf, -np.inf, np.nan):
        position = tensors["embed.position"].copy()
        position[9, ::2] = number
        spoilt = replace(file, tensors={**tensors, "embed.position": position})
        begin = plain_reader(spoilt)
        assert begin is not None
        texts = begin(4)
        letters = np.stack([texts.read(w) for w in words.T], axis=1)
        at_once = begin(4).read_on(words)
        with np.errstate(all="ignore"):
            shape, net = spoilt.architecture, spoilt.tensors
            as_defined = whole(Net.of(shape, net), Arrays(), words)
        for said in (letters, at_once, as_defined):
            np.testing.assert_allclose(said[:, :8], right[:, :8], rtol=0, atol=1e-3)
            assert (
                choose_classes(said[:, 8])[1] == choose_classes(letters[:, 8])[1]
            ).all()
            assert not choose_classes(said[:, 8])[1].any()


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", BY_TORCH, ids=str)
def test_torch_reads_the_rest(case: Case) -> None:
    file = file_of(case)
    assert plain_reader(file) is None
    if "machine" in file.header:
        words = words_of(file, 2, 8)
        with torch.no_grad():
            right = Model(file).network(torch.from_numpy(words)).double().numpy()
        texts = reader(file)(2)
        said = np.stack([texts.read(letters) for letters in words.T], axis=1)
        assert (said.argmax(axis=2) == right.argmax(axis=2)).all()


def test_texts_side_by_side_are_texts_alone() -> None:
    file = file_of(("S3", 40, {}))
    words, begin = words_of(file, 5, 40), plain_reader(file)
    assert begin is not None
    together = begin(5)
    alone = [begin(1) for _ in words]
    for letters in words.T:
        said = together.read(letters)
        one = [each.read(letters[i : i + 1])[0] for i, each in enumerate(alone)]
        np.testing.assert_allclose(said, np.stack(one), rtol=0, atol=1e-5)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["EditDistance3,2", "LIS4:most=6", "Arithmetic1,3"])
def test_texts_are_those_that_torch_writes(name: str) -> None:
    file = krohn.compile(name, proof=False).file
    plain = plain_reader(file)
    assert plain is not None
    tokens = file.header["architecture"]["vocabulary"] - 1
    texts = np.full((20, file.header["claim"]["length"]), BLANK)
    texts[:, :3] = np.random.default_rng(0).integers(tokens, size=(20, 3))
    right = decode(stepping(Model(file).network), texts)
    assert (decode(plain, texts) == right).all()


def test_ties_and_what_is_no_number_are_no_answers() -> None:
    logits = np.array([[0.0, 1, 1], [0, 2, 1], [np.nan, 3, 1], [0, np.inf, 1]])
    best, sure = choose_classes(logits)
    assert sure.tolist() == [False, True, False, False]
    assert best[1] == 1
    odd = (reading.TIED, "b", reading.NOT_FINITE, reading.NOT_FINITE)
    assert name_chosen_classes(logits, "abc") == odd


def test_words_end_where_positions_do() -> None:
    runner = runner_of(file_of(("S3", 8, {})))
    assert len(runner.run(["213"] * 8)["states"]) == 8
    with pytest.raises(KrohnError, match="up to 8 letters"):
        runner.run(["213"] * 9)
    assert runner.run([])["states"] == []


def test_heads_of_relus_are_read_as_well() -> None:
    file = krohn.compile("Mess3", 16, "attention-products", within=0.1).file
    begin = plain_reader(file)
    assert begin is not None
    words = np.random.default_rng(0).integers(3, size=(2, 16))
    with torch.no_grad():
        right = Model(file).network(torch.from_numpy(words)).double().numpy()
    said = begin(2).read_on(words)
    np.testing.assert_allclose(said, right, rtol=0, atol=file.header["claim"]["error"])


@pytest.mark.parametrize(
    ("dtype", "wide", "deepest"),
    [("float32", np.float64, 87), ("float64", np.longdouble, 700)],
)
def test_functions_are_as_exact_as_is_assumed(
    dtype: str, wide: Any, deepest: int
) -> None:
    """A6, A13 and A14 of docs/soundness.md, of the functions of numpy."""
    unit, rng = PRECISIONS[dtype].unit, np.random.default_rng(0)
    form = FORMATS[dtype]
    x = np.concatenate([rng.uniform(-s, 0, 5000) for s in (0.01, 1, 8, deepest)])
    x = x.astype(dtype)
    true = np.exp(x.astype(wide))
    assert np.abs(np.exp(x).astype(wide) / true - 1).max() <= form.exponential
    both = np.concatenate([x, -x]).astype(wide)
    sigmoid = Arrays().sigmoid(both.astype(dtype)).astype(wide)
    assert np.abs(sigmoid - 1 / (1 + np.exp(-both))).max() <= GATE * unit
    features = Arrays().phi(x).astype(wide)
    off = np.abs(features - np.where(x > 0, x + 1, true))
    assert off.max() <= SILENT_ERROR * unit
    tanh = Arrays().tanh(both.astype(dtype)).astype(wide)
    assert np.abs(tanh - np.tanh(both)).max() <= GATE * unit


@pytest.mark.parametrize("dtype", reading.FORMATS)
def test_units_are_as_exact_as_is_assumed(dtype: str) -> None:
    """A11 and A12."""
    unit, rng = PRECISIONS[dtype].unit, np.random.default_rng(0)
    sizes = (SMALL, 1, 8, 1e3, FARTHEST)
    x = np.concatenate([rng.uniform(-s, s, 150) for s in sizes]).astype(dtype)
    wide = x.astype(np.float64)
    off = np.abs(Arrays().sine(x) - exactly("sine", wide))
    assert off.max() <= SINE * unit
    off = np.abs(Arrays().gelu(x) - exactly("gelu", wide))
    assert (off <= gelu_units(np.abs(wide), FORMATS[dtype]) * unit * np.abs(wide)).all()


def test_sums_have_all_digits() -> None:
    """A1: products of float32 are added up in float32 at least, and not in fewer digits."""
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((1, 300, 40), (256, 300, 40), (1, 40, 1)):
        a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
        a, b = a.astype(np.float32), b.astype(np.float32)
        true = a.astype(np.float64) @ b.astype(np.float64)
        most = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
        assert (np.abs(a @ b - true) <= inner * 2.0**-24 * most).all()
