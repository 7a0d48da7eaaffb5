"""Networks that write chains of thought: proved, run, and damaged."""

import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.compiled_model import CompiledModel
from krohn.kinds.dynamic_programs import build as construction
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.statement import (
    Argument,
    ChainOfThought,
    Step,
)
from krohn.program.expressions import argument, greater, number, value
from krohn.program.whole_expressions import gate, maximum
from krohn.verify.proof import prove

KIND = ChainsOfThought()


@cache
def proved(name: str, dtype: str = "float32") -> CompiledModel:
    model = krohn.compile(name, dtype=dtype)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    return model


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("boundary", [1, 2])
def test_every_pair_of_short_binary_words_is_written_right(boundary: int) -> None:
    """Every prompt of both lengths up to 3: decoded = reference, and proved."""
    for rows, columns in product((1, 3), repeat=2):
        name = f"EditDistance{rows},{columns}:letters=2,boundary={boundary}"
        model = proved(name)
        found = KIND.every(model.file, rows + columns + 2, lambda *_: None)
        assert found.has_passed
        assert found.words == 2 ** (rows + columns)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_eight_by_eight_in_every_format(dtype: str) -> None:
    model = proved("EditDistance8,8:letters=4", dtype)
    assert model.summary()["claim"] == "generates"
    assert KIND.sample(model.file, 20, 0, lambda *_: None).has_passed


@pytest.mark.slow
def test_twenty_by_twenty() -> None:
    model = proved("EditDistance20,20")
    assert KIND.sample(model.file, 200, 0, lambda *_: None).has_passed


@cache
def sparse(name: str) -> CompiledModel:
    """By heads that see √L positions and ends of blocks, however short the text is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(construction, "LOCAL", 0)
        return krohn.compile(name, attention="sparse")


@pytest.mark.slow
def test_a_local_program_needs_no_slots() -> None:
    """Yang et al. 2024, Proposition 5.4: a window of the locality, and a constant width."""
    widths = []
    for n in (3, 6):
        model = krohn.compile(f"LocalEditDistance{n},{n}", attention="sparse")
        source, shape = KIND.of_file(model.file), model.file.header["architecture"]
        (block,) = [b for b in shape["blocks"] if b["heads"]]
        assert block["attention"]["block"] == source.locality < source.length // 2
        widths.append(shape["d_model"])
    assert widths[1] - widths[0] <= 12  # two more digits of places, six times


def test_sparse_heads_write_every_text_right() -> None:
    """They see the last B positions and the end of each block of B."""
    for name in ("EditDistance2,3:letters=2", "EditDistance3,3:letters=2,boundary=1"):
        file = sparse(name).file
        size = {"kind": "sparse", "block": 5, "windows": 1, "last": 1}
        shape = file.header["architecture"]["blocks"]
        assert [b["attention"] for b in shape if b["heads"]] == [size, size]
        assert KIND.every(file, 8, lambda *_: None).has_passed


@pytest.mark.slow
def test_eight_by_eight_by_sparse_heads() -> None:
    model = sparse("EditDistance8,8:letters=4")
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    assert KIND.sample(model.file, 20, 0, lambda *_: None).has_passed


@cache
def linear(name: str) -> CompiledModel:
    return krohn.compile(name, attention="linear")


@pytest.mark.slow
def test_linear_heads_write_every_text_right() -> None:
    """They add up slots over blocks of a power of two; one layer of them is enough."""
    for name in ("EditDistance2,3:letters=2", "EditDistance3,3:letters=2,boundary=1"):
        file = linear(name).file
        shape = file.header["architecture"]["blocks"]
        assert [b["attention"] for b in shape if b["heads"]] == [{"kind": "linear"}]
        assert KIND.every(file, 8, lambda *_: None).has_passed


@pytest.mark.slow
def test_eight_by_eight_by_linear_heads() -> None:
    """Yang et al. 2024 need a width of 24·W + 46 and 9 blocks, W the positions of one."""
    model = linear("EditDistance8,8:letters=4")
    shape = model.file.header["architecture"]
    assert shape["d_model"] < 24 * 10 + 46
    assert len(shape["blocks"]) < 9
    assert KIND.sample(model.file, 20, 0, lambda *_: None).has_passed


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"block": 4},
            "may not see|may read wrong positions",
        ),
        (
            {"block": 6},
            "may not see|may read wrong positions",
        ),
        ({"last": 0}, "'last' is 0, not a sensible size"),
        ({"kind": "linear"}, "a linear has no '"),
    ],
)
def test_heads_that_see_less_than_they_need_are_refused(
    change: dict[str, Any], reason: str
) -> None:
    file = sparse("EditDistance3,3:letters=2").file
    shape = file.header["architecture"]
    blocks = [
        {**b, "attention": {**b["attention"], **change}} if b["heads"] else b
        for b in shape["blocks"]
    ]
    header = {**file.header, "architecture": {**shape, "blocks": blocks}}
    proof = prove(replace(file, header=header), None)
    assert proof.verdict == "undecided"
    assert re.search(reason, proof.reason)


def increasing(length: int, largest: int) -> ChainOfThought:
    """The longest increasing subsequence that ends at the last letter of a word.

    Cell (j, k) is the longest one that ends at x_j, its last letter but x_j among the
    first k: the larger of cell (j, k − 1) and, if x_j > x_k, of 1 + cell (k, k − 1).
    """
    numbers = largest + 1
    x, before, y, best = map(argument, range(4))
    less = value(greater(x, y))
    one, other = gate(best + 1, less, numbers), gate(number(1), 1 - less, numbers)
    longer = value(one + other)
    steps, cell, at = list[Step](), dict[tuple[int, int], Argument](), length + 1
    for j in range(1, length + 1):
        for k in range(j):
            other = (Argument(k, 0), cell[k, k - 1]) if k else (NOBODY, ONE)
            reads = (Argument(j, 0), cell.get((j, k - 1), ONE), *other)
            steps.append(Step(None, 0, reads))
            at += 1
            cell[j, k] = Argument(at, 0)
    steps.append(Step(None, 1, (cell[length, length - 1],)))
    return ChainOfThought(
        name="increasing",
        tokens=(*map(str, range(numbers)), "<sep>"),
        contents=(*range(numbers), 0),
        numbers=numbers,
        prompt=(*[(0, largest)] * length, (numbers, numbers)),
        rules=(maximum(before, longer), argument(0)),
        steps=tuple(steps),
        answer=at + 1,
    )


ONE, NOBODY = Argument(0, 1), Argument(0, 9)


def ending_at_the_last(word: list[int]) -> int:
    longest: list[int] = []
    for j, x in enumerate(word):
        shorter = [longest[k] for k in range(j) if word[k] < x]
        longest.append(1 + max(shorter, default=0))
    return longest[-1]


def test_a_dynamic_program_that_nobody_tuned() -> None:
    chain = increasing(6, 9)
    rng = np.random.default_rng(0)
    words = rng.integers(0, 10, size=(50, 6))
    prompts = np.column_stack([words, np.full(50, 10)])
    written = chain.continue_prompts(prompts)[:, chain.answer - 1]
    assert written.tolist() == [ending_at_the_last(w) for w in words.tolist()]
    model = krohn.compile(chain)
    assert model.proof is not None
    assert KIND.sample(model.file, 100, 0, lambda *_: None).has_passed


@pytest.mark.slow
def test_another_recurrence_is_not_what_the_network_writes() -> None:
    """Another rule, place, token or content in the header is refused."""
    file = proved("EditDistance2,3:letters=3").file
    source = file.header["source"]
    for key, change in (
        ("rules", lambda old: [old[1], old[1]]),
        ("steps", lambda old: [[0, *old[0][1:-1], [1, 0]], *old[1:]]),
        ("steps", lambda old: [*old[:-1], old[-1] - 1]),
        ("contents", lambda old: [*old[:-5], old[-5] + 1, *old[-4:]]),
    ):
        other = {**source, key: change(source[key])}
        header = {**file.header, "source": other}
        assert prove(replace(file, header=header), None).verdict == "undecided"


def test_the_example_of_the_document() -> None:
    page = Path(__file__).parents[3] / "docs/kinds/dynamic_programs.md"
    text = page.read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (example,) = [e for e in examples if "krohn.dynamic_program(" in e]
    found: dict[str, Any] = {}
    exec(example, found)
    chain = found["p"].chain_of_thought
    written = chain.continue_prompts(
        np.array([[3, 1, 4, 2, chain.tokens.index("<sep>")]])
    )
    assert [chain.tokens[i] for i in written[0, 5:]] == [*"344", "<sep>", "4", "<eos>"]
    assert found["model"].proof.verdict == "verified"
