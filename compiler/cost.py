"""The cost of a network, known before any tensor is made."""

from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from krohn.compiler.attention import Lowering
from krohn.compiler.bounds import Bound, Steps, result_of
from krohn.compiler.errors import CompileError
from krohn.compiler.head_assembly import patterns
from krohn.compiler.layout import Layout, width
from krohn.compiler.mlp import block_mlp
from krohn.compiler.needed_positions import budget
from krohn.compiler.position_table import Positions
from krohn.compiler.schedule import attention_ranks
from krohn.network.architecture import parameters
from krohn.network.precision import PRECISIONS
from krohn.program import Map, Program, cone, is_embedded

# How long a network takes is predicted by a model that was fitted to measurements, by
# `python benchmarks/latency.py`: 90 networks of 200 to 7.5 million parameters, one word of
# 32, 100 or 300 letters at a time, one thread of an AMD EPYC, float32. A network that the
# model was not fitted to is off by 24 % in the median and by 93 % at worst; of two whose
# times differ by a fifth or more, the model puts 95 % in the right order. On another
# machine what matters are the ratios of the coefficients.
BLOCK, ATTENTION = 134.0, 116.0
"""Microseconds for a block, and for its attention if it has any: mostly calls."""

OPERATION = 1.80e-5
"""Microseconds for a multiplication or an addition."""

PARAMETER = 3.78e-4
"""Microseconds for a number that is read from memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Bound):
    """The sizes of a network, exactly.

    Attributes:
        heads: The most heads of any block.
        largest_weight: The largest entry of any trainable matrix, in absolute value.
        narrowest: The narrowest format whose error budgets the operations fit, in the
            order bfloat16, float16, float32, float64; the proof has the last word.
    """

    heads: int
    largest_weight: float
    narrowest: str


def predict(
    layout: Layout, features: Positions, strict: bool, activation: str = "relu"
) -> Cost:
    """The sizes of the network that `krohn.compiler.transformer.lower` would make."""
    return result_of(cost_steps(layout, features, strict, activation))


def cost_steps(
    layout: Layout, features: Positions, strict: bool, activation: str = "relu"
) -> Steps[Cost]:
    """The cost of a network, after a bound before its first MLP and after each one."""
    program, plan = layout.plan.program, layout.plan
    blocks = [
        _attention(layout, features, b, strict) | {"mlp": []}
        for b in range(plan.blocks)
    ]
    known: dict[object, tuple[list[int], float]] = {}
    weights = [_largest_code(program), _largest_in_heads(features)]
    for b in range(plan.blocks):
        alike = _mlp_signature(layout, b, strict)
        if alike not in known:
            yield _sizes(layout, blocks, strict)
            mlp = block_mlp(layout, features.precision, b, strict, activation)
            found = (mlp.widths(), mlp.largest()) if mlp else ([], 0.0)
            known[alike] = found
        blocks[b]["mlp"], largest = known[alike]
        weights.append(largest)
    sizes = _sizes(layout, blocks, strict)
    return Cost(
        **{f.name: getattr(sizes, f.name) for f in fields(Bound)},
        heads=max((b["heads"] for b in blocks), default=0),
        largest_weight=max(weights),
        narrowest=narrowest(program, activation),
    )


def _sizes(layout: Layout, blocks: list[dict[str, Any]], strict: bool) -> Bound:
    """The sizes of a network, from the shapes of its blocks."""
    program = layout.plan.program
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
    flops = 2 * (total - table_rows + attended * (program.length + 1))
    depth, layers = layout.plan.depth, layout.plan.blocks
    return Bound(
        depth=depth,
        layers=layers,
        d_model=layout.d_model,
        mlp_width=max((w for b in blocks for w in b["mlp"]), default=0),
        parameters=total,
        flops_per_token=flops,
        latency=latency(depth, layers, total, flops, program.length),
    )


def bound_before_schedule(program: Program, features: Positions) -> Bound:
    """The bound of an optimised Program before it is scheduled.

    Its features and outputs have dimensions of their own; its longest chain of attention
    operations has a block, with a head, for each.
    """
    ranks = attention_ranks(program)
    width_of = partial(width, program)
    d = sum(features.sizes.values()) + sum(map(width_of, set(program.outputs)))
    heads: dict[int, int] = {}
    for name, operation in program.operations.items():
        if operation.is_attention:
            entries = 2 * d * (1 + width_of(name))
            rank = ranks[name]
            heads[rank] = min(entries, heads.get(rank, entries))
    depth = len(heads)
    rows = len(program.letters) + program.length + 2 + program.states
    total = rows * d + program.states + sum(heads.values())
    return Bound(
        depth=depth,
        layers=depth,
        d_model=d,
        parameters=total,
        latency=latency(depth, depth, total, 0, program.length),
    )


def _mlp_signature(layout: Layout, block: int, strict: bool) -> object:
    """The facts on which the sizes of a block's MLP depend.

    Channels count by their kinds and not by their names or places: leaves have numbers
    in order of appearance, because channels that are there together lie apart.
    """
    program = layout.plan.program
    number: dict[str, int] = {}
    maps = tuple(_cone(layout, name, number) for name in layout.plan.maps(block))
    freed = layout.channels_to_clear(block) if strict else []
    erased = tuple((number.get(n), width(program, n)) for n in freed)
    return maps, erased


def _cone(layout: Layout, name: str, number: dict[str, int]) -> tuple[object, ...]:
    """A channel's functions and leaves.

    Args:
        layout: Where it is computed.
        name: The channel.
        number: The leaves of the block so far, each with its number; grows.
    """
    program = layout.plan.program
    stored = layout.plan.leaves(name)
    leaves: list[object] = []
    for leaf in stored:
        operation = program.operations[leaf]
        known = operation if is_embedded(program, operation) else None
        at = number.setdefault(leaf, len(number))
        leaves.append((at, program.domains[leaf], leaf in program.one_hot, known))
    inside = {leaf: -1 - i for i, leaf in enumerate(stored)}
    steps: list[object] = []
    for channel in cone(program, name, inside):
        operation = program.operations[channel]
        inputs = tuple(inside[n] for n in operation.reads)
        function = operation.function if isinstance(operation, Map) else None
        inside[channel] = len(steps)
        steps.append((function, inputs, program.domains[channel]))
    return program.code(name), tuple(leaves), tuple(steps)


def _attention(
    layout: Layout, features: Positions, block: int, strict: bool
) -> dict[str, Any]:
    """How many heads a block has, and how large their queries and values are."""
    program = layout.plan.program
    queries, values = [0], [0]
    for pattern, channels in patterns(layout, block).items():
        lowering = Lowering.of[type(pattern)]
        queries.append(lowering.query_size(program, features, pattern))
        values.append(sum(width(program, n) for n in channels))
    k, v = max(queries), max(values)
    if strict:
        k = v = max(k, v)
    return {"heads": len(queries) - 1, "d_qk": k, "d_v": v}


def _largest_code(program: Program) -> float:
    """The largest entry of the read-out: 2c, or |c|² in its bias."""
    sizes = [1.0]
    for values in () if program.vectors else program.decode:
        pairs = list(zip(program.outputs, values, strict=True))
        code = [1 if n in program.one_hot else v for n, v in pairs]
        sizes += [2.0 * max(code, default=0), float(sum(c * c for c in code))]
    return max(sizes)


def narrowest(program: Program, activation: str = "relu") -> str:
    """The narrowest format in which the heads of a Program can be made."""
    largest = max(max(domain) for domain in program.domains.values())
    for name in ("bfloat16", "float16", "float32"):
        precision = PRECISIONS[name]
        try:
            budget(program, precision, activation)
        except CompileError:
            continue
        if 2 * largest <= 2**precision.digits:
            return name
    return "float64"


def _largest_in_heads(positions: Positions) -> float:
    kinds = positions.fetched
    return max([1.0, *(x for k in kinds for x in Lowering.of[k].largest(positions))])


def latency(
    depth: int, layers: int, parameters: int, flops_per_token: int, length: int
) -> float:
    """Microseconds for one word.

    Args:
        depth: Blocks with attention.
        layers: Blocks, one after the other.
        parameters: Entries of all tensors.
        flops_per_token: Multiplications and additions for one letter.
        length: Letters of the word.
    """
    calls = BLOCK * layers + ATTENTION * depth
    operations = flops_per_token * length
    return calls + OPERATION * operations + PARAMETER * parameters
