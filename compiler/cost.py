"""The cost of a network: lower bounds while it is planned, and all before any tensor."""

from collections.abc import Generator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeAlias, TypeVar

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import as_memory
from krohn.compiler import CompileError
from krohn.compiler.attention import Lowering
from krohn.compiler.decision_paths import cone_signature
from krohn.compiler.layout import Layout, attention_ranks, width
from krohn.compiler.pipeline import Options, budget
from krohn.compiler.positions import PositionCode, Positions
from krohn.compiler.transformer import patterns
from krohn.network.architecture import parameters
from krohn.network.modelfile import LARGEST_HEADER
from krohn.network.precision import PRECISIONS, Precision
from krohn.program import Program

# Lower bounds of a network's sizes, known before it is laid out: planning prunes by them.
#
# A construction, and every later stage of planning, may be a generator that yields
# bounds, each at least as tight as those before, and returns its result. Planning goes on
# with it only as long as the result can still win.


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Bound:
    """Sizes that are not above the sizes of any network that may follow.

    The names are those of `krohn.compiler.cost.Cost`; 0 where nothing is known.

    Attributes:
        depth: Attention layers.
        layers: Blocks; at least the depth.
        d_model: Dimensions of the residual stream.
        mlp_width: The widest hidden layer.
        parameters: Entries of all tensors.
        flops_per_token: Multiplications and additions for one position at full length.
        latency: Microseconds for one word of full length (`krohn.compiler.cost`).
    """

    depth: int = 0
    layers: int = 0
    d_model: int = 0
    mlp_width: int = 0
    parameters: int = 0
    flops_per_token: int = 0
    latency: float = 0.0

    @property
    def widest(self) -> int:
        """The widest vector: residual stream or hidden layer."""
        return max(self.d_model, self.mlp_width)

    @property
    def area_time(self) -> int:
        """Parameters times blocks squared (Thompson 1979)."""
        return self.parameters * self.layers**2

    def and_also(self, other: "Bound") -> "Bound":
        """The bound that holds if both do."""
        sizes = (f.name for f in fields(Bound))
        return Bound(*(max(getattr(self, n), getattr(other, n)) for n in sizes))


def looking_back(machine: Automaton, length: int, layers: int) -> Bound:
    """A network that looks back in each of so many layers.

    Nothing is said of machines with outputs or with one state: their output may be the
    same after every word.

    Args:
        machine: The machine that it computes.
        length: T.
        layers: How many blocks have a head that looks back.
    """
    if machine.output is not None or len(reachable(machine).states) == 1:
        return Bound()
    code = 2  # a circle; the dyadic code has more
    d = code + 3  # a constant, a flag for BOS, and a channel
    rows = len(machine.letters) + 1 + length + 1 + len(machine.states)
    heads = layers * 2 * d * (code + 1 + 1)
    total = rows * d + len(machine.states) + heads
    return Bound(depth=layers, layers=layers, d_model=d, parameters=total)


def levels(length: int, radix: int) -> int:
    """How many levels cover a word: the depth of a scan."""
    width, level = 1, 0
    while width < length:
        width, level = width * radix, level + 1
    return level


def scanning(machine: Automaton, length: int, radix: int = 2) -> Bound:
    """A network that looks back in each level of a scan."""
    depth = levels(length, radix)
    return looking_back(machine, length, depth) if depth else Bound()


def one_by_one(machine: Automaton, length: int) -> Bound:
    """A network that looks back in a layer for each letter after the first."""
    return looking_back(machine, length, length - 1)


def holding_a_memory(machine: Automaton, length: int) -> Bound:
    """A network of a memory that fetches the latest value of a channel with a flag.

    It has dimensions for a constant, the order of positions, the value, its flag, and
    what was fetched: the flag and the value cannot be told from each other, and neither
    from what was fetched, where letters keep different states for as long as they come.

    Nothing is said of other machines than memories with such a letter, and of those of
    which nothing is said by `looking_back`.

    Args:
        machine: The machine that it computes.
        length: T.
    """
    part = reachable(machine)
    memory = as_memory(part)
    alone = machine.output is not None or len(part.states) == 1 or length == 1
    if alone or memory is None or None not in memory.writes:
        return Bound()
    block = {"heads": 1, "d_qk": 1, "d_v": 1, "mlp": list[int]()}
    total = parameters(
        {
            "kind": "transformer",
            "strict": False,
            "d_model": 5,
            "vocabulary": len(machine.letters) + 1,
            "positions": length + 1,
            "outputs": len(machine.states),
            "blocks": [block],
        }
    )
    least = latency(1, 1, total, 0, length)
    return Bound(depth=1, layers=1, d_model=5, parameters=total, latency=least)


def check_written(length: int) -> None:
    """Functions of the position are written into a file value by value.

    Raises:
        CompileError: If a digit and a comma for each position are more than a header may
            have.
    """
    if 2 * (length + 1) > LARGEST_HEADER:
        raise CompileError(
            f"a file would have to state a value for each of {length + 1} positions; "
            "choose a shorter length or another construction"
        )


Steps: TypeAlias = Generator[Bound, None, Result]
"""Bounds, and then the result."""


def result_of(steps: Steps[Result]) -> Result:
    """The result, whatever the bounds."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


# The cost of a network, known before any tensor is made.


# What it takes to prove a network is about known as soon as it is laid out. A network that
# cannot be proved in minutes is not made where a proof is wanted.
MOST_STEPS = 30_000_000
"""Of a proof, in steps of a `Budget`: some minutes of one core."""
FINEST_CODE = 17
"""Frequencies of a code of positions of which the checker looks at all scores that matter
in long words: with one more these are ten times as many (C2 at T = 65,000 and 100,000)."""


def proof_steps(parameters: int, heads: int, length: int) -> float:
    """About how much work it is to make and prove a network, in steps of a `Budget`.

    Of the tensors each entry is looked at a few times, and of each head the pairs of
    positions, which are fewer than all in long words.
    """
    return parameters / 4 + heads * length * min(length, 2**10) / 100


def check_code(length: int, code: PositionCode | None) -> None:
    """Refuse a code of positions that is too fine for a proof of long words.

    Raises:
        CompileError: If it is.
    """
    longest = 2 ** (FINEST_CODE - 1)
    fine = code is not None and code.first == 1 and code.frequencies > FINEST_CODE
    if fine and length > longest:
        raise CompileError(
            f"its heads tell more than {longest:,} positions apart, and a proof has too "
            "many of their scores to look at; use a shorter length"
        )


def check_proof(layout: Layout) -> None:
    """Refuse a network that is too large to be proved, before any tensor is made.

    Raises:
        CompileError: If it is.
    """
    heads = sum(len(patterns(layout, b)) for b in range(layout.plan.blocks))
    length = layout.plan.program.length
    check_steps(length * layout.d_model, heads, length)


def check_steps(parameters: int, heads: int, length: int) -> None:
    """Refuse a proof that would take too long.

    Raises:
        CompileError: If it would.
    """
    needed = proof_steps(parameters, heads, length)
    if needed > MOST_STEPS:
        raise CompileError(
            f"its proof would take {needed:.0e} steps or more, and {MOST_STEPS:.0e} is the "
            "most; use a shorter length"
        )


# How long a network takes is predicted by a model that was fitted to measurements, by
# `python benchmarks/latency.py`: 90 networks of 200 to 7.5 million parameters, one word
# of 32, 100 or 300 letters at a time, one thread of an AMD EPYC, float32. A network that
# the model was not fitted to is off by 24 % in the median and by 93 % at worst; of two
# whose times differ by a fifth or more, the model puts 95 % in the right order. On
# another machine what matters are the ratios of the coefficients.
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
            known[alike] = _mlp_sizes(layout, features.precision, b, strict, activation)
        blocks[b]["mlp"], largest = known[alike]
        weights.append(largest)
    sizes = _sizes(layout, blocks, strict)
    return Cost(
        **{f.name: getattr(sizes, f.name) for f in fields(Bound)},
        heads=max((b["heads"] for b in blocks), default=0),
        largest_weight=max(weights),
        narrowest=narrowest(program, activation),
    )


def _mlp_sizes(
    layout: Layout, precision: Precision, block: int, strict: bool, activation: str
) -> tuple[list[int], float]:
    """The widths of the hidden layers of a block, and the largest entry."""
    if not layout.plan.maps(block):
        return [], 0.0
    from krohn.compiler.mlp import block_mlp

    mlp = block_mlp(layout, precision, block, strict, activation)
    return ([], 0.0) if mlp is None else (mlp.widths(), mlp.largest())


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

    Leaves have numbers in order of appearance, because channels that are there together
    lie apart.
    """
    program = layout.plan.program
    number: dict[str, int] = {}
    maps = tuple(
        cone_signature(program, name, layout.plan.leaves(name), number)
        for name in layout.plan.maps(block)
    )
    freed = layout.channels_to_clear(block) if strict else []
    erased = tuple((number.get(n), width(program, n)) for n in freed)
    return maps, erased


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
            budget(program, Options(precision, activation=activation))
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
