"""Schedules respect what is read where, and live channels never overlap."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from krohn.compiler import CompileError
from krohn.compiler.layout import Layout, check_schedule, schedule
from krohn.compiler.passes import PassError
from krohn.program import Map, Operation, Program, Shift, Token, is_embedded, table

Build = Callable[..., Any]

CASES = [
    ("C5", "counter", 9),
    ("Memory3", "memory", 9),
    ("C2xC3", "product", 9),
    ("S3", "scan", 9),
    ("Grid4", "scan", 16),
    ("PermReset3", "scan", 8),
    ("Grid4", "sequential", 9),
    ("D6", "sequential", 4),
]
EACH = pytest.mark.parametrize(("name", "construction", "length"), CASES)
FORMS = pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])


@pytest.mark.sample(2)
@EACH
@FORMS
def test_channels_come_as_early_as_heads_and_mlps_can_read(
    levels: Build, name: str, construction: str, length: int, strict: bool
) -> None:
    """Heads read even snapshots, MLPs odd ones; a misplaced channel is rejected."""
    plan = levels(name, construction, length, strict=strict).layout.plan
    check_schedule(plan)
    for channel, operation in plan.program.operations.items():
        if isinstance(operation, Token):
            assert channel not in plan.born
        elif is_embedded(plan.program, operation):
            assert plan.born[channel] == 0
        else:
            read_at = plan.born[channel] - 1
            assert read_at % 2 == (0 if operation.is_attention else 1)
            assert all(plan.born[n] <= read_at for n in operation.reads)
            if read_at >= 0:
                assert 1 + read_at - max(plan.born[n] for n in operation.reads) in (
                    1,
                    2,
                )
    for channel, snapshot in plan.born.items():
        for other in {snapshot - 1, snapshot + 1, snapshot % 2} - {snapshot}:
            moved = replace(plan, born={**plan.born, channel: other})
            if snapshot and not _possible(moved, channel):
                with pytest.raises(PassError):
                    check_schedule(moved)


def _possible(plan: Any, channel: str) -> bool:
    """Whether the channel could be placed there: the sublayer and what it reads fit."""
    operation = plan.program.operations[channel]
    at = plan.born[channel]
    direct = operation.is_attention
    read = operation.reads
    return at % 2 == int(direct) and all(_ready(plan, n, at, not direct) for n in read)


def _ready(plan: Any, channel: str, snapshot: int, opened: bool) -> bool:
    """Whether a channel is stored before a snapshot, or an MLP there can open it."""
    operation = plan.program.operations[channel]
    if plan.born.get(channel, snapshot) < snapshot or isinstance(operation, Token):
        return True
    inner = isinstance(operation, Map) and opened
    return inner and all(_ready(plan, n, snapshot, True) for n in operation.reads)


def last_read(layout: Layout, channel: str) -> int:
    """The last snapshot at which something needs a channel."""
    plan = layout.plan
    if channel in plan.program.outputs:
        return plan.last
    readers = [n for n, op in plan.program.operations.items() if channel in op.reads]
    return max([plan.born[channel], *(plan.born[n] - 1 for n in readers)])


@pytest.mark.sample(2)
@EACH
@FORMS
def test_live_channels_never_overlap_and_end_where_an_mlp_can_clear_them(
    levels: Build, name: str, construction: str, length: int, strict: bool
) -> None:
    layout = levels(name, construction, length, strict=strict).layout
    for channel, place in layout.places.items():
        assert place.born <= last_read(layout, channel) <= place.dies
        assert place.dies == layout.plan.last or place.dies % 2 == 1
    for one, other in combinations(layout.places.values(), 2):
        apart = one.stop <= other.start or other.stop <= one.start
        assert apart or one.dies < other.born or other.dies < one.born
    top = max((stop for _, stop in layout.features.values()), default=0)
    assert all(place.start >= top for place in layout.places.values())
    assert layout.d_model >= max(p.stop for p in layout.places.values())


@pytest.mark.sample(1)
@EACH
def test_the_strict_form_is_plain(
    levels: Build, name: str, construction: str, length: int
) -> None:
    built = levels(name, construction, length, strict=True)
    architecture = built.compiled.file.header["architecture"]
    assert architecture["strict"] is True
    for block in architecture["blocks"]:
        assert len(block["mlp"]) <= 1
        assert block["d_qk"] == block["d_v"]
    assert not any("residual" in n for n in built.compiled.file.tensors)


@pytest.mark.sample(1)
@EACH
def test_the_usual_form_only_masks_with_zeros_and_ones(
    levels: Build, name: str, construction: str, length: int
) -> None:
    tensors = levels(name, construction, length).compiled.file.tensors
    masks = [t for n, t in tensors.items() if "residual" in n]
    assert all(np.isin(m, (0.0, 1.0)).all() for m in masks)


@pytest.mark.sample(1)
@EACH
def test_dimensions_are_used_again(
    levels: Build, name: str, construction: str, length: int
) -> None:
    layout = levels(name, construction, length).layout
    total = sum(p.stop - p.start for p in layout.places.values())
    features = sum(high - low for low, high in layout.features.values())
    assert layout.d_model <= total + features
    if construction in ("scan", "sequential"):
        assert layout.d_model < total + features


@pytest.mark.parametrize(
    "reader",
    [
        Shift("token", 1),
        Map(
            table({(a, b): 0 for a in range(3) for b in range(3)}), ("token", "before")
        ),
    ],
    ids=["head", "map"],
)
def test_token_is_read_by_maps_of_it_alone(reader: Operation) -> None:
    """Whoever fetches the token, or joins it with others, is named, and told how."""
    letter = Map(table({(a,): a for a in range(3)}), ("token",))
    operations = {
        "token": Token(),
        "letter": letter,
        "before": Shift("letter", 1),
    }
    program = Program(("a", "b"), 1, 4, operations, ("before",), {})
    assert schedule(program).blocks == 1
    wrong = program.with_operations({**operations, "answer": reader})
    with pytest.raises(CompileError, match=r"'answer' reads the token 'token'"):
        schedule(wrong)
