"""Scheduling into blocks, and the layout of the residual stream."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.decision_paths import Opener, PathLimit, leaves, summands
from krohn.compiler.passes import PassError
from krohn.network.precision import FloatArray
from krohn.program import Program, Token, is_embedded, is_sum

# Scheduling into blocks: the snapshot at which each channel appears.
#
# The residual stream is looked at after every sublayer; these *snapshots* are numbered: 0
# after the embedding, 2b + 1 after the attention of block b, 2b + 2 after its MLP.


Group = tuple[int, bool]
"""The rank of heads, and whether they are linear."""


@dataclass(frozen=True, slots=True)
class Before:
    """The channels that there are before a snapshot.

    Attributes:
        born: Snapshot of each channel.
        snapshot: The snapshot.
    """

    born: Mapping[str, int]
    snapshot: int

    def __contains__(self, name: object) -> bool:
        """Whether a channel is among them."""
        at = self.born.get(name)  # type: ignore[call-overload]
        return at is not None and at < self.snapshot


@dataclass(frozen=True)
class Schedule:
    """A Program with the snapshot at which each stored channel appears.

    A Map that only Maps of the same MLP read is not stored: they open it
    (`krohn.compiler.decision_paths`).

    Attributes:
        program: What is scheduled.
        born: Snapshot of each channel that is stored (the token itself never is).
        blocks: How many blocks there are.
    """

    program: Program
    born: Mapping[str, int]
    blocks: int
    _leaves: dict[str, tuple[str, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def last(self) -> int:
        """The last snapshot."""
        return 2 * self.blocks

    def attention(self, block: int) -> list[str]:
        """The channels that the heads of a block write."""
        return [n for n, s in self.born.items() if s == 2 * block + 1]

    def maps(self, block: int) -> list[str]:
        """The channels that the MLP of a block writes."""
        return [n for n, s in self.born.items() if s == 2 * block + 2]

    def leaves(self, name: str) -> tuple[str, ...]:
        """The stored channels that a channel is computed from."""
        if name not in self._leaves:
            self._leaves[name] = leaves(self.program, name, self._before(name))
        return self._leaves[name]

    def opener(self, name: str) -> Opener:
        """Opens the Maps that one MLP computes together with a channel."""
        return Opener(self.program, self._before(name))

    def _before(self, name: str) -> "Before":
        return Before(self.born, self.born[name])

    @property
    def depth(self) -> int:
        """How many blocks attend: depth in the convention of the thesis."""
        return sum(bool(self.attention(b)) for b in range(self.blocks))


def schedule(program: Program, most_paths: int = 0, strict: bool = False) -> Schedule:
    """Place every channel as early as it can be; independent ones share a block.

    Heads wait for each other where that saves an attention layer: there are as few as the
    longest chain of attention operations has.

    Args:
        program: What to schedule.
        most_paths: Tables of tables become one MLP if no more paths decide them.
        strict: Whether an MLP has one hidden layer: it can decide by one channel, or by
            one-hot channels.

    Raises:
        CompileError: If what is no map of the token alone reads it.
    """
    limit = PathLimit(program, most_paths)
    born = _times(program, limit, strict, {})
    if _attending(program, born) > max(attention_ranks(program).values()):
        born = _align_heads(program, limit, strict)
    stored = _stored_channels(program, born)
    kept = {name: snapshot for name, snapshot in born.items() if name in stored}
    last = max(kept.values(), default=0)
    return Schedule(program, kept, (last + 1) // 2)


READS_A_STEP = 40
STEPS_A_CHANNEL = 30


def scheduling_steps(program: Program) -> int:
    """About how much work it is to schedule and price a Program, in steps of a `Budget`.

    Of each Map it is asked from which channels it is decided: down to the heads before
    it, through what other Maps read there.
    """
    ranks, read, seen = attention_ranks(program), dict[int, int](), 0
    for name, operation in program.operations.items():
        if not operation.is_attention:
            rank = ranks[name]
            read[rank] = read.get(rank, 0) + len(operation.reads)
            seen += read[rank]
    return STEPS_A_CHANNEL * len(ranks) + seen // READS_A_STEP


def _times(
    program: Program, limit: PathLimit, strict: bool, soonest: Mapping[Group, int]
) -> dict[str, int]:
    """The snapshot of every channel, as early as can be.

    Args:
        program: What is scheduled.
        limit: Which tables of tables become one MLP.
        strict: As for `schedule`.
        soonest: By group, a snapshot before which no head may write.
    """
    groups, linear = _groups(program), dict[int, bool]()
    born: dict[str, int] = {}
    for name, operation in program.operations.items():
        if not isinstance(operation, Token):
            born[name] = _earliest(program, name, born, limit, strict)
        if operation.is_attention:
            born[name] = max(born[name], soonest.get(groups[name], 0))
            while linear.setdefault(born[name], operation.linear) != operation.linear:
                born[name] += 2
    return born


def _groups(program: Program) -> dict[str, Group]:
    """The rank of each channel, and whether a linear head writes it.

    All heads of a block are linear, or none is.
    """
    ranks = attention_ranks(program)
    return {n: (ranks[n], op.linear) for n, op in program.operations.items()}


def attention_ranks(program: Program) -> dict[str, int]:
    """How many attention operations the longest chain up to each channel has."""
    ranks: dict[str, int] = {}
    for name, operation in program.operations.items():
        before = max((ranks[n] for n in operation.reads), default=0)
        ranks[name] = before + operation.is_attention
    return ranks


def _attending(program: Program, born: Mapping[str, int]) -> int:
    return len({s for n, s in born.items() if program.operations[n].is_attention})


def _align_heads(program: Program, limit: PathLimit, strict: bool) -> dict[str, int]:
    """Heads of one rank wait for each other: no packing has fewer attention layers.

    Linear heads wait apart from the others.
    """
    groups = _groups(program)
    soonest: dict[Group, int] = {}
    while True:
        born = _times(program, limit, strict, soonest)
        latest: dict[Group, int] = {}
        for name, snapshot in born.items():
            if program.operations[name].is_attention:
                latest[groups[name]] = max(snapshot, latest.get(groups[name], 0))
        if latest == soonest:
            return born
        soonest = latest


def _earliest(
    program: Program,
    name: str,
    born: Mapping[str, int],
    limit: PathLimit,
    strict: bool,
) -> int:
    operation = program.operations[name]
    if operation.wire == "position" or is_embedded(program, operation):
        return 0
    ready = _last_read(program, name, born)
    if operation.is_attention:
        return ready + 1 if ready % 2 == 0 else ready + 2
    if ready % 2 == 1 or ready == 0:
        return ready + 1 + (ready == 0)
    before = Before(born, ready)
    summed = summands(program, name, before)
    alone = is_sum(operation) or name in program.sizes
    if alone or not (summed or limit.most):
        return ready + 2
    stored = leaves(program, name, before)
    if not all(n in before for n in stored):
        return ready + 2
    from krohn.compiler.table_forms import linear

    if summed:
        return ready if linear(program, name, before, not strict) else ready + 2
    flat = len(stored) == 1 or program.one_hot.issuperset(stored)
    few = (flat or not strict) and limit.admits(name, stored, before)
    together = few or linear(program, name, before, deep=not strict)
    return ready if together else ready + 2


def _last_read(program: Program, name: str, born: Mapping[str, int]) -> int:
    """The snapshot at which all that a channel reads is there.

    Raises:
        CompileError: If it reads the token, which is never stored.
    """
    read = program.operations[name].reads
    for token in read:
        if token not in born:
            raise CompileError(
                f"{name!r} reads the token {token!r}, which is never stored: a map of it "
                "alone can be read"
            )
    return max(born[n] for n in read)


def _stored_channels(program: Program, born: Mapping[str, int]) -> set[str]:
    """The outputs, the channels that heads read, and the channels that decide these."""
    todo = [n for n in program.outputs if n in born]
    stored: set[str] = set()
    while todo:
        name = todo.pop()
        if name in stored:
            continue
        stored.add(name)
        if born[name] > 0:
            todo += leaves(program, name, Before(born, born[name]))
    return stored


def check_schedule(plan: Schedule) -> None:
    """Every channel is ready where it is read: heads read even snapshots, MLPs odd ones.

    Raises:
        PassError: If one is not.
    """
    for name in plan.born:
        operation = plan.program.operations[name]
        if operation.wire == "position" or is_embedded(plan.program, operation):
            continue
        if plan.born[name] % 2 != int(operation.is_attention):
            raise PassError(f"channel {name!r} is placed in the wrong sublayer")
        direct = operation.is_attention
        read = operation.reads if direct else plan.leaves(name)
        if any(plan.born.get(n, plan.last + 1) >= plan.born[name] for n in read):
            raise PassError(f"channel {name!r} reads a channel that is not ready")


# The layout of the residual stream: which dimensions each channel has, and when.


@dataclass(frozen=True, slots=True)
class AllocatedPlace:
    """Where a channel lies: residual dimensions ``[start, stop)`` of some snapshots.

    Attributes:
        start: First dimension.
        stop: One past the last dimension.
        born: First snapshot.
        dies: Last snapshot.
    """

    start: int
    stop: int
    born: int
    dies: int


@dataclass(frozen=True)
class Layout:
    """A schedule with a place for every channel and every position feature.

    Attributes:
        plan: The schedule.
        features: Dimensions ``[start, stop)`` of each position feature.
        places: The place of each channel.
        d_model: How many dimensions there are.
    """

    plan: Schedule
    features: Mapping[str, tuple[int, int]]
    places: Mapping[str, AllocatedPlace]
    d_model: int

    def channels_to_clear(self, block: int) -> list[str]:
        """The channels whose dimensions the MLP of a block must clear."""
        return [n for n, p in self.places.items() if p.dies == 2 * block + 1]


def width(program: Program, name: str) -> int:
    """How many dimensions a channel takes."""
    if name in program.sizes:
        return program.sizes[name] ** 2
    if name in program.vectors:
        return len(program.vectors[name][0])
    return max(program.domains[name]) + 1 if name in program.one_hot else 1


def code_matrix(program: Program, name: str, values: Iterable[int]) -> FloatArray:
    """The residual-stream code of each value, ``(values, dimensions)``."""
    column = np.array(list(values), dtype=np.int64)
    if name in program.vectors:
        return np.array(program.vectors[name])[column]
    if name not in program.one_hot:
        numbers = program.operations[name].numbers
        return (column if numbers is None else numbers[column])[:, None].astype(float)
    return np.eye(max(program.domains[name]) + 1)[column]


def allocate(
    plan: Schedule,
    features: Mapping[str, int],
    strict: bool = False,
    keep: bool = False,
) -> Layout:
    """Give every channel dimensions, reusing those of channels no longer read.

    With ``keep`` none is reused: every channel stays readable to the end.

    Only an MLP can clear dimensions, so a channel read last by the heads or the MLP of a
    block frees its dimensions at that block's MLP, or the next one. In the strict form
    that MLP erases by subtraction; nothing may be written in the same sum.
    """
    placed: dict[str, tuple[int, int]] = {}
    top = 0
    for feature, dimensions in features.items():
        placed[feature] = (top, top + dimensions)
        top += dimensions
    freed = {} if keep else _freed_at(plan)
    stream = _Stream(top)
    spans: dict[str, tuple[int, int]] = {}
    for name in sorted(plan.born, key=lambda n: plan.born[n]):
        until = freed.get(name, plan.last + 1) + strict
        size = width(plan.program, name)
        spans[name] = stream.take(name, size, plan.born[name], until)
    places = {
        name: AllocatedPlace(
            *spans[name],
            snapshot,
            freed[name] - 1 if name in stream.reused else plan.last,
        )
        for name, snapshot in plan.born.items()
    }
    return Layout(plan, placed, places, top + len(stream.owners))


def _freed_at(plan: Schedule) -> dict[str, int]:
    """The snapshot at which each channel's dimensions can be used again."""
    last = dict(plan.born)
    for name, snapshot in plan.born.items():
        if snapshot:
            for read in plan.leaves(name):
                last[read] = max(last[read], snapshot - 1)
    with_mlp = sorted({s for s in plan.born.values() if s > 0 and s % 2 == 0})
    freed: dict[str, int] = {}
    for name, snapshot in last.items():
        later = bisect_right(with_mlp, snapshot)
        if later < len(with_mlp) and name not in plan.program.outputs:
            freed[name] = with_mlp[later]
    return freed


@dataclass
class _Stream:
    """The owners of the dimensions of the residual stream, above the features.

    Attributes:
        top: The first dimension.
        owners: The last channel that was given each dimension.
        until: The snapshot from which on each can be given to another one.
        reused: The channels some of whose dimensions were given to another one: they
            stay until these are cleared.
    """

    top: int
    owners: list[str] = field(default_factory=list)
    until: list[int] = field(default_factory=list)
    reused: set[str] = field(default_factory=set)

    def take(self, name: str, size: int, born: int, until: int) -> tuple[int, int]:
        """The first dimensions that are free, as ``[start, stop)``."""
        start = free = 0
        while start + free < len(self.until) and free < size:
            if self.until[start + free] <= born:
                free += 1
            else:
                start, free = start + free + 1, 0
        stop = start + size
        self.reused.update(self.owners[start:stop])
        self.owners[start:stop] = [name] * size
        self.until[start:stop] = [until] * size
        return self.top + start, self.top + stop
