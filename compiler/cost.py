"""What a network will cost, known before any tensor is made."""

from dataclasses import dataclass
from typing import Any

from compiler.errors import CompileError
from compiler.features import Positions, budget
from compiler.heads import patterns, query_size
from compiler.mlp import block_tables
from compiler.numerics import (
    count_scale,
    earliest_scale,
    equality_scale,
    mark_penalty,
    mark_scale,
    match_scale,
    pointing_scale,
    recency_scale,
    recency_slope,
    sibling_scale,
)
from compiler.program import Map, Program, cone, reads
from compiler.schedule import Layout, width
from network.modelfile import parameters
from network.precision import PRECISIONS


@dataclass(frozen=True, slots=True)
class Cost:
    """The sizes of a network.

    Attributes:
        depth: Attention layers, as the thesis counts.
        layers: Blocks really emitted, with those that only hold an MLP.
        d_model: Dimensions of the residual stream.
        heads: The most heads of any block.
        mlp_width: The widest hidden layer.
        parameters: Entries of all tensors, zeros included.
        flops_per_token: Multiplications and additions for one position at full length.
        largest_weight: The largest entry of any trainable matrix, in absolute value.
        narrowest: The narrowest format whose error budgets the operations fit, in the
            order bfloat16, float16, float32, float64; the proof has the last word.
    """

    depth: int
    layers: int
    d_model: int
    heads: int
    mlp_width: int
    parameters: int
    flops_per_token: int
    largest_weight: float
    narrowest: str

    @property
    def width(self) -> int:
        """The widest vector: residual stream or hidden layer."""
        return max(self.d_model, self.mlp_width)


def predict(
    layout: Layout, features: Positions, strict: bool, sine: bool = False
) -> Cost:
    """The sizes of the network that `compiler.transformer.lower` would make."""
    program, plan = layout.plan.program, layout.plan
    blocks: list[dict[str, Any]] = []
    known: dict[object, tuple[list[int], float]] = {}
    weights = [_largest_code(program), _largest_in_heads(features)]
    for b in range(plan.blocks):
        alike = _mlp_signature(layout, b, strict)
        if alike not in known:
            tables = block_tables(layout, b, strict, sine)
            found = (tables.widths(), tables.largest()) if tables else ([], 0.0)
            known[alike] = found
        widths, largest = known[alike]
        shape = _attention(layout, features, b, strict)
        blocks.append(shape | {"mlp": widths})
        weights.append(largest)
    architecture = {
        "kind": "transformer",
        "strict": strict,
        "d_model": layout.d_model,
        "vocabulary": len(program.letters) + 1,
        "positions": program.length + 1,
        "outputs": program.states,
        "blocks": blocks,
    }
    total = parameters(architecture)
    table_rows = (len(program.letters) + 2 + program.length) * layout.d_model
    attended = sum(b["heads"] * (b["d_qk"] + b["d_v"]) for b in blocks)
    return Cost(
        depth=plan.depth,
        layers=plan.blocks,
        d_model=layout.d_model,
        heads=max((b["heads"] for b in blocks), default=0),
        mlp_width=max((w for b in blocks for w in b["mlp"]), default=0),
        parameters=total,
        flops_per_token=2 * (total - table_rows + attended * (program.length + 1)),
        largest_weight=max(weights),
        narrowest=narrowest(program, sine),
    )


def _mlp_signature(layout: Layout, block: int, strict: bool) -> object:
    """What the MLP of a block depends on: equal signatures have equal sizes."""
    program = layout.plan.program
    maps = [
        (*_cone(layout, name), name in program.one_hot, layout.places[name].start)
        for name in layout.plan.maps(block)
    ]
    freed = layout.freed(block) if strict else []
    return tuple(maps), tuple(
        (layout.places[n].start, layout.places[n].stop) for n in freed
    )


def _cone(layout: Layout, name: str) -> tuple[object, ...]:
    """A channel's functions and leaves, by what they are and not by their names."""
    program = layout.plan.program
    stored = layout.plan.leaves(name)
    leaves = tuple(
        (layout.places[n].start, program.domains[n], n in program.one_hot)
        for n in stored
    )
    number = {leaf: -1 - i for i, leaf in enumerate(stored)}
    steps: list[object] = []
    for at in cone(program, name, number):
        operation = program.operations[at]
        inputs = tuple(number[n] for n in reads(operation))
        function = operation.function if isinstance(operation, Map) else None
        number[at] = len(steps)
        steps.append((function, inputs))
    return leaves, tuple(steps)


def _attention(
    layout: Layout, features: Positions, block: int, strict: bool
) -> dict[str, Any]:
    """How many heads a block has, and how large their queries and values are."""
    program = layout.plan.program
    queries, values = [0], [0]
    for pattern, channels in patterns(layout, block).items():
        queries.append(query_size(program, features, pattern))
        values.append(sum(width(program, n) for n in channels))
    k, v = max(queries), max(values)
    if strict:
        k = v = max(k, v)
    return {"heads": len(queries) - 1, "d_qk": k, "d_v": v}


def _largest_code(program: Program) -> float:
    """The largest entry of the read-out: 2c, or |c|² in its bias."""
    sizes = [1.0]
    for values in program.decode:
        pairs = list(zip(program.outputs, values, strict=True))
        code = [1 if n in program.one_hot else v for n, v in pairs]
        sizes += [2.0 * max(code, default=0), float(sum(c * c for c in code))]
    return max(sizes)


def narrowest(program: Program, sine: bool = False) -> str:
    """The narrowest format in which the heads of a Program can be made."""
    largest = max(max(domain) for domain in program.domains.values())
    for name in ("bfloat16", "float16", "float32"):
        precision = PRECISIONS[name]
        try:
            budget(program, precision, sine)
        except CompileError:
            continue
        if 2 * largest <= 2**precision.digits:
            return name
    return "float64"


def _largest_in_heads(features: Positions) -> float:
    sizes = [1.0]
    if features.code:
        scale = match_scale(features.code, features.horizon, features.precision)
        sizes.append(scale * max(1.0, features.code.terms - features.code.lead))
    if features.latest >= 0 and features.uniform:
        sizes.append(recency_slope(features.precision, features.latest))
    elif features.latest >= 0:
        sizes += recency_scale(features.length, features.precision, features.latest)
    if features.matches:
        slope, bonus = equality_scale(features.length, features.precision)
        sizes += [slope, bonus]
    if features.earliest >= 0:
        sizes += earliest_scale(features.length, features.precision, features.earliest)
    if features.pointed >= 0:
        slope = pointing_scale(features.length, features.precision, features.pointed)
        sizes += [2 * slope, features.bits - 1.0]
    if features.siblings:
        slope = sibling_scale(features.length, features.precision)
        sizes.append(slope * 2.0 ** (features.bits - 1))
    if features.sums:
        sizes.append(count_scale(features.length))
    if features.marks:
        sizes.append(mark_penalty(features.length, features.precision))
        sizes += [mark_scale(sum(marks)) for marks in features.marks]
    return max(sizes)
