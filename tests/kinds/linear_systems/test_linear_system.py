"""Claims within an error: what is shown of products of real matrices, and what is not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from linear_networks import (
    built,
    changed,
    measured,
    outputs,
    rounding,
    shown,
    system,
    words_of,
)
from model_files import redescribed, restated, stated, with_entries

from krohn.compiler import CompileError
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.heads import Heads

IN, OUT = "blocks.1.mlp.0.weight", "blocks.1.mlp.1.weight"


def with_header(file: ModelFile, **parts: Any) -> ModelFile:
    return replace(file, header={**file.header, **parts})


@pytest.mark.slow
def test_mat_mul_at_120_letters() -> None:
    """At least what is measured, at most ten times as much; depth 7."""
    file = built("MatMul5,5@3", 120)
    found = shown(file)
    largest = measured(file, words_of(system("MatMul5,5@3"), 120, 60))
    assert largest <= found.error <= 10 * largest
    assert found.error < 2e-7
    assert sum(b["heads"] > 0 for b in file.header["architecture"]["blocks"]) == 7


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", [2.0**10, 2.0**12, 1e4])
def test_the_law_of_the_curve(scale: float) -> None:
    """(2^L − 1)·2/(3λ²), where rounding is small: measured, and shown."""
    length = 32
    file = built("MatMul5,5@3", length, scale=scale)
    law = (2**5 - 1) * 2 / (3 * scale**2)
    assert (
        0.5 * law < measured(file, words_of(system("MatMul5,5@3"), length, 60)) <= law
    )
    assert law <= shown(file).error < 1.1 * law


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "options", "length"),
    [
        ("Cyclic-DET5,5@3", {}, 17),
        ("MatMul3,2@1", {}, 2),
        ("MatMul8,3@1", {}, 5),
        ("Cyclic-DET5,5@3", {"strict": True}, 5),
        ("MatMul3,2@1", {"strict": True}, 16),
        ("MatMul3,2@1", {"circle": True}, 17),
        ("MatMul8,3@1", {"circle": True}, 2),
    ],
)
def test_no_error_is_above_what_is_shown(
    name: str, options: dict[str, bool], length: int
) -> None:
    file = built(name, length, **options)
    most = shown(file).error + rounding(system(name), length)
    assert measured(file, words_of(system(name), length, 40)) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("name", "norm"), [("Cyclic-DET5,5@3", "column sums")])
def test_functions_are_bounded_by_column_sums(name: str, norm: str) -> None:
    assert shown(built(name, 64)).facts()["norm"] == norm


@pytest.mark.slow
def test_merging_functions_have_no_2_norm_but_column_sums() -> None:
    matrices = np.zeros((2, 4, 4))
    matrices[0, [0, 0, 1, 2], range(4)] = matrices[1, [3, 2, 2, 2], range(4)] = 1
    source = LinearSystem("merging", ("a", "b"), matrices, np.eye(4)[3])
    file = built(source, 40)
    found = shown(file)
    assert measured(file, words_of(source, 40, 100)) <= found.error < 1e-6


def test_float32_holds_permutations_of_few_letters() -> None:
    file = built("Cyclic-DET5,5@3", 16, "float32")
    found = shown(file)
    largest = measured(file, words_of(system("Cyclic-DET5,5@3"), 16, 60))
    assert largest <= found.error < 0.05


def test_what_a_format_cannot_hold_is_refused() -> None:
    with pytest.raises(CompileError, match="float32 cannot hold the matrices"):
        built("MatMul5,5@3", 16, "float32")
    with pytest.raises(CompileError, match="cannot hold products"):
        built("Cyclic-DET5,5@3", 16, "bfloat16")


@pytest.mark.slow
def test_the_claim_must_be_no_less_than_what_is_shown() -> None:
    file = built("MatMul5,5@3", 9)
    claim = {**file.header["claim"], "error": (error := shown(file).error)}
    assert shown(restated(file, "claim", error=error)).error == error
    for wrong in ({**claim, "error": error / 2}, {"error": error}, {"kind": "within"}):
        with pytest.raises(Refused):
            shown(replace(file, header={**file.header, "claim": wrong}))


@pytest.mark.slow
def test_a_scale_that_is_not_the_one_of_the_curve_is_shown_as_an_error() -> None:
    """λ is read from the tensors: a gain of 1 + 1e-6 costs a millionth per product."""
    file = built("MatMul5,5@3", 120)
    louder = changed(file, **{OUT: file.tensors[OUT] * (1 + 1e-6)})
    found = shown(louder).error
    words = words_of(system("MatMul5,5@3"), 120, 40)
    assert shown(file).error < measured(louder, words) <= found
    wider = changed(file, **{IN: file.tensors[IN] * 0.9})
    with pytest.raises(Refused, match="its own size"):
        shown(wider)


@pytest.mark.parametrize(
    ("letter", "start"),
    [([[1.5]], [1.75 * 2.0**127]), ([[1.0, 1.0], [0.0, 0.0]], [2.0**127, 2.0**127])],
)
def test_an_output_beyond_the_format_is_within_no_error(
    letter: list[list[float]], start: list[float]
) -> None:
    """The state is beyond what float32 can say, and the network says infinity."""
    source = LinearSystem("far", ("a",), np.array([letter]), np.array(start))
    file = built(source, 1, "float32")
    assert np.isinf(outputs(file, [[0]])).any()
    loose = {**file.header["claim"], "error": 1e38}
    with pytest.raises(Refused, match="an output can overflow"):
        shown(with_header(file, claim=loose))


@pytest.mark.parametrize("entry", [1e200, 1e308])
def test_matrices_whose_norm_is_no_number_are_refused(entry: float) -> None:
    matrices = np.full((1, 2, 2), entry)
    with pytest.raises(Refused, match="products of letters can grow"):
        shown(built(LinearSystem("far", ("a",), matrices, np.eye(2)[0]), 1))


def test_a_system_of_one_number_has_one_output() -> None:
    """A product of one column with the start is no matrix of several."""
    file = built(LinearSystem("one", ("a",), np.ones((1, 1, 1)), np.ones(1)), 4)
    weight, shape = file.tensors["unembed.weight"], file.header["architecture"]
    shown(file)
    tensors = {
        **file.tensors,
        "unembed.weight": np.tile(weight, 3),
        "unembed.bias": np.zeros(3),
    }
    more = with_header(file, architecture={**shape, "outputs": 3})
    with pytest.raises(Refused, match="no product to the start"):
        shown(ModelFile(more.header, tensors, file.precision))


Damage = Callable[[ModelFile], ModelFile]


def entries(name: str, at: Any, value: Any) -> Damage:
    return lambda file: with_entries(file, name, at, value)


def earlier_times_later(file: ModelFile) -> ModelFile:
    """Units that read the factors in the other order: the order of the printed text."""
    left, right = (range(*stated(file, n)["dims"]) for n in ("product2", "before2"))
    swapped = file.tensors[IN][[*right, *left]]
    return with_entries(file, IN, [*left, *right], swapped)


def printed_order(file: ModelFile) -> ModelFile:
    """The Program of the printed text, with the network that computes it."""
    said = stated(file, "product4")
    other = earlier_times_later(file)
    return redescribed(other, "product4", left=said["right"], right=said["left"])


def head_off_by_one(file: ModelFile) -> ModelFile:
    other = built("MatMul5,5@3", 9)
    query = "blocks.1.attention.query"
    return changed(file, **{query: other.tensors["blocks.0.attention.query"]})


def longer_letters(file: ModelFile) -> ModelFile:
    """The same in the source and the Program, too: products grow."""
    source = system("MatMul5,5@3")
    return built(replace(source, matrices=source.matrices * 1.5), 9)


def relus(file: ModelFile) -> ModelFile:
    blocks = [dict(block) for block in file.header["architecture"]["blocks"]]
    blocks[2]["activation"] = [[["relu", 500]]]
    return restated(file, "architecture", blocks=blocks)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (entries(IN, (slice(None), [0, 2]), lambda w: w[:, ::-1]), "wrong sign"),
        (earlier_times_later, "do not meet|another entry"),
        (printed_order, "not the later one"),
        (head_off_by_one, "may read wrong positions"),
        (entries(OUT, ..., np.nan), "uses a wrong entry|nothing|too few"),
        # In the embedding alone, and so another letter than the source has.
        (entries("embed.token", ..., lambda w: 1.01 * w), "embedded wrongly"),
        (longer_letters, "products of letters can grow"),
        (
            lambda f: restated(f, "source", start=[0.0, 1.0, 0, 0, 0]),
            "starts elsewhere",
        ),
        # The window of 16 letters, claimed for 17.
        (lambda f: restated(f, "claim", length=17), "too few positions"),
        (entries("blocks.1.mlp.0.bias", 7, 1e-3), "has a bias"),
        (entries(OUT, 3, lambda w: w * (1 + 1e-9)), "unlike weights"),
        (entries(OUT, ..., lambda w: -w), "wrong sign"),
        (relus, "is no GeLU"),
        # What was there is added to a product.
        (
            entries("blocks.1.mlp.residual", ..., 1),
            "added to something|changes|no layer",
        ),
    ],
)
def test_damage_is_refused_with_a_reason(damage: Damage, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        shown(damage(built("MatMul5,5@3", 9)))


def test_what_heads_lose_below_the_normal_range_is_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = built("MatMul5,5@3", 9)
    before = shown(network).error
    monkeypatch.setattr(Heads, "below", lambda *_: Interval.of(1e-4))
    assert shown(network).error > before + 1e-4


def climbed(file: ModelFile, steps: int, seed: int) -> float:
    """The largest error that a hill climb over words finds."""
    source = LinearSystem.from_wire(file.header["source"])
    length = file.header["claim"]["length"]
    random, letters = np.random.default_rng(seed), len(source.letters)

    def errors(words: Any) -> FloatArray:
        off = np.abs(outputs(file, words) - source.run(words))
        return np.asarray(off.max(axis=(1, 2)))

    words = words_of(source, length, 40, seed)
    found = errors(words)
    for _ in range(steps):
        tried = words.copy()
        for _ in range(random.integers(1, 4)):
            at = random.integers(length, size=len(words))
            tried[np.arange(len(words)), at] = random.integers(letters, size=len(words))
        now = errors(tried)
        words[now > found] = tried[now > found]
        found = np.maximum(found, now)
    return float(found.max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MatMul2,3@1", "MatMul5,2@2", "Cyclic-DET4,3@1"])
@pytest.mark.parametrize("scale", [2.0**5, 2.0**9, None])
def test_a_climb_over_words_never_exceeds_what_is_shown(
    name: str, scale: float | None
) -> None:
    for length in (2, 3, 8):
        file = built(name, length, scale=scale)
        most = shown(file).error + rounding(system(name), length)
        assert climbed(file, 10, length) <= most


def test_the_bound_of_the_curve_is_nearly_reached() -> None:
    """Two products of identities: the constants of W3 and W4 cannot be improved."""
    file = built("Cyclic-DET2,1@0", 4, scale=2.0**9)
    assert climbed(file, 0, 0) > 0.99 * shown(file).error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MatMul5,5@3", "Cyclic-DET5,5@3"])
def test_a_long_climb_at_120_letters(name: str) -> None:
    file = built(name, 120)
    assert climbed(file, 300, 0) <= shown(file).error
