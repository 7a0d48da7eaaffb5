"""No number that is stored, summed or exponentiated overflows in a proved network."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

import krohn
from krohn.architectures.gpt2.check import Files
from krohn.architectures.gpt2.export import write
from krohn.program.errors import Refused
from krohn.verify import checker
from krohn.verify.checker.arithmetic import (
    FORMATS,
    INSIDE,
    STEPS,
    STORED,
    SUM,
    Format,
    Room,
    fits,
)
from krohn.verify.checker.heads import Heads
from krohn.verify.checker.scores import check_scores
from tests.architectures.gpt2.test_check_gpt2 import shown

BELOW = 1 - 2.0**-30


def most(form: Format, room: Room) -> float:
    """The largest size that fits, but for the rounding of the checker's bounds."""
    ways = [form.sum_largest / room.inside]
    if room.stored:
        ways.append(form.largest / room.stored)
    return min(ways) * BELOW


def types(form: Format) -> tuple[torch.dtype, torch.dtype]:
    """The stored type and the one of sums."""
    inside = torch.float64 if form.name == "float64" else torch.float32
    return getattr(torch, form.name), inside


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("room", [STORED, INSIDE, SUM, STEPS])
def test_what_fits_is_let_through_and_what_is_larger_is_not(
    form: Format, room: Room
) -> None:
    fits(most(form, room), form, "it", room)
    for size in (most(form, room) * 1.01, np.inf, np.nan):
        with pytest.raises(Refused, match="it can overflow"):
            fits(size, form, "it", room)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_sums_are_finite_in_every_order_and_so_are_their_exponents(
    form: Format,
) -> None:
    stored, inside = types(form)
    torch.manual_seed(0)
    size = torch.tensor(most(form, SUM), dtype=torch.float64)
    share = torch.rand(500, 64, dtype=torch.float64)
    sign = torch.where(torch.rand(500, 1) < 0.5, 1.0, -1.0).double()
    terms = (sign * size * share / share.sum(1, keepdim=True)).to(inside)
    assert terms.cumsum(1).isfinite().all()
    scores = terms.sum(1).to(stored)
    assert scores.isfinite().all()
    wide, factor = scores.to(inside), torch.tensor(np.log2(np.e), dtype=inside)
    for one in (wide.max(), wide.min()):
        assert (wide * factor - one * factor).isfinite().all()
        assert (wide - one).isfinite().all()


def test_values_fit_though_the_largest_weight_is_more_than_1() -> None:
    """The exponent fma(m, c, −fl(m·c)) of the maximum m is the rounding of m·c (4.2)."""
    form = FORMATS["float32"]
    check_scores(2.0**28 * BELOW, form)
    with pytest.raises(Refused, match="far off"):
        check_scores(2.0**28.1, form)
    score = np.float32(2.0**28) - 16 * np.arange(1, 1000, dtype=np.float32)
    exact = score.astype(np.float64) * np.float32(np.log2(np.e))
    weight = np.exp2((exact - exact.astype(np.float32)).max())
    largest = most(form, INSIDE) / 3  # of three positions
    assert weight * largest > form.sum_largest
    stream = SimpleNamespace(form=form, positions=np.zeros((3, 1)))
    heads = cast(Heads, SimpleNamespace(stream=stream))
    with pytest.raises(Refused, match="a sum of values can overflow"):
        Heads.check_sums(heads, largest)
    Heads.check_sums(heads, 2.0**31)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_five_stored_steps_are_finite(form: Format) -> None:
    """The largest numbers of one sign, added, with factors of at most 1."""
    stored, _ = types(form)
    part = torch.tensor(most(form, STEPS) / 6, dtype=stored)
    value = part
    for _ in range(5):
        value = (value + part) * torch.tensor(1.0, dtype=stored)
        assert value.isfinite()


def test_no_other_module_of_the_checker_compares_with_the_largest_number() -> None:
    folder = Path(checker.__file__).parent
    asking = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(r"form(at)?\.(sum_)?largest", path.read_text())
    }
    assert asking == {"arithmetic.py"}


# ----------------------------------------------------------------------- GPT-2s

Tensors = dict[str, torch.Tensor]
ATTENTION = "transformer.h.0.attn.c_attn.weight"


@pytest.fixture(scope="module", params=["float32", "float16", "bfloat16"])
def good(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Files:
    directory = tmp_path_factory.mktemp("good")
    file = krohn.compile("FlipFlop", length=16, strict=True, dtype=request.param).file
    write(file, directory)
    return Files.of(directory)


def changed(files: Files, heads: int, change: Callable[[Tensors], None]) -> Files:
    tensors = load(files.weights)
    change(tensors)
    config = json.dumps(json.loads(files.config) | {"n_head": heads}).encode()
    weights = save(tensors, {"format": "pt"})
    return files._replace(weights=weights, config=config)


def scores(query: float, key: float) -> Callable[[Tensors], None]:
    """Queries and keys, each times a number."""

    def change(tensors: Tensors) -> None:
        weight = tensors[ATTENTION]
        width = weight.shape[1] // 3
        weight[:, :width] = (weight[:, :width].double() * query).to(weight.dtype)
        keys = weight[:, width : 2 * width]
        weight[:, width : 2 * width] = (keys.double() * key).to(weight.dtype)

    return change


def large_queries(tensors: Tensors) -> None:
    """Queries of 2·largest/3, which are stored twice as large with heads of width 4."""
    weight, rows = tensors[ATTENTION], tensors["transformer.wpe.weight"]
    rows[:, 0], rows[:, 5] = 2, -2
    old, new = float(weight[0, 0]), 2.0 ** math.floor(math.log2(largest(weight)))
    weight[0, 0], weight[10, 0] = new, -new
    weight[:, 16] = (weight[:, 16].double() * (old / new)).to(weight.dtype)


def largest(weight: torch.Tensor) -> float:
    return float(torch.finfo(weight.dtype).max)


def answers_numbers(files: Files) -> bool:
    """Whether the library's own logits are numbers, in both of its attentions."""
    transformers = pytest.importorskip("transformers")
    tensors = load(files.weights)
    finite = []
    for attention in ("eager", "sdpa"):
        config = transformers.GPT2Config(**json.loads(files.config))
        config._attn_implementation = attention
        model = transformers.GPT2LMHeadModel(config).to(tensors[ATTENTION].dtype)
        model.load_state_dict(tensors)
        letters = config.bos_token_id
        chosen = torch.Generator().manual_seed(0)
        words = torch.randint(letters, (16, 16), generator=chosen)
        front = words.new_full((16, 1), letters)
        with torch.inference_mode():
            logits = model.eval()(torch.cat([front, words], dim=1)).logits
        finite.append(bool(logits.isfinite().all()))
    return all(finite)


def proved(files: Files) -> bool:
    try:
        shown(files)
    except Refused:
        return False
    return True


@pytest.mark.sample(1)
@pytest.mark.parametrize("heads", [1, 4])
def test_queries_that_overflow_before_they_are_divided_are_refused(
    good: Files, heads: int
) -> None:
    attack = changed(good, heads, large_queries)
    assert not answers_numbers(attack)
    assert not proved(attack)


@pytest.mark.sample(1)
@pytest.mark.parametrize("share", [0.7, 0.85, 0.99])
def test_scores_whose_exponents_overflow_are_refused(good: Files, share: float) -> None:
    """s·log2(e) is infinite from 0.69 of the largest number on, s is not."""
    weight = load(good.weights)[ATTENTION]
    if weight.dtype == torch.float16:
        pytest.skip("float16 scores are exponentiated in float32")
    at_most = float(weight[0, 0]) / 2 * 16 * 33
    attack = changed(good, 16, scores(0.5, share * largest(weight) / at_most))
    assert not proved(attack)


@pytest.mark.sample(1)
def test_heads_of_any_scale_are_refused_or_answer_numbers(good: Files) -> None:
    """Queries and keys up to the largest number, in heads of any width."""
    rng = np.random.default_rng(0)
    top = math.log2(largest(load(good.weights)[ATTENTION]))
    found = []
    for _ in range(16):
        query = rng.uniform(-8, top)
        key = rng.uniform(-query - 8, top + 2 - query - 15)
        heads = int(rng.choice([1, 4, 16]))
        attack = changed(good, heads, scores(2.0**query, 2.0**key))
        found.append(proved(attack))
        assert not found[-1] or answers_numbers(attack)
    assert {True, False} == set(found)
