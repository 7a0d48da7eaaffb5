"""Attention: every head looks where the file says, and leaks little elsewhere.

What is assumed of the arithmetic of attention, for any order of summation and for fused
and unfused kernels alike, stands in docs/soundness.md, section 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from network.precision import FLOAT32, FLOAT64, BoolArray, FloatArray, Precision
from verify.errors import Rejected
from verify.exponentials import AT_ZERO, COARSE, NEAR, drift, is_narrow
from verify.matching import Matching
from verify.noisy import Noisy, snaps_to_itself, step_of
from verify.pointing import Pointing
from verify.rivals import leak_earliest, leak_growing, leak_in_sibling, leak_latest
from verify.statement import Channel, Reach, Statement, added
from verify.stream import FEATURE, Stream, per_value
from verify.weights import Scores, scores

CELLS = 8_000_000
ROUNDINGS = 96
"""Units of the accumulator: of sums, quotients and products in a sharp head."""
PAIRS_IN_A_STEP = 5000
"""A scan of all T up to 2^16 looks at 2^36 pairs of positions, and is verified."""


@dataclass(frozen=True)
class Look:
    """What was shown of where a head looks.

    Attributes:
        leak: Bound of the total weight on wrong positions.
        gap: The smallest difference between the right score and another one.
        score_error: Bound of the error of a score and of the exponent made from it.
        largest: Bound of all scores.
    """

    leak: float
    gap: float
    score_error: float
    largest: float


@dataclass(frozen=True)
class Attention:
    """The heads of a block over what is known of their input.

    Attributes:
        query: ``(heads, d, k)``; likewise ``key``, ``value`` ``(heads, d, v)``.
        out: ``(heads, v, d)``.
        positions: ``(T + 1, d)``, the position embedding.
        stream: What is known before the heads.
        statement: The Program.
        reach: The values of each channel at BOS, and at later positions.
        precision: The format that they compute in.
    """

    query: FloatArray
    key: FloatArray
    value: FloatArray
    out: FloatArray
    positions: FloatArray
    stream: Stream
    statement: Statement
    reach: Mapping[str, Reach]
    precision: Precision

    def look(self, channel: Channel) -> Look:
        """Where the head of a channel looks.

        Raises:
            Rejected: If that is not what the channel's operation says.
        """
        head = channel.head
        assert head is not None
        if channel.op == "shift":
            return self._look_back(head, channel.by)
        if channel.op == "latest":
            return self._look_latest(head, channel.inputs[1])
        if channel.op == "latest-match":
            return self._look_match(head, *channel.inputs[1:])
        if channel.op == "sibling-latest":
            return self._look_in_sibling(head, channel.inputs[1], channel.by)
        if channel.op == "earliest":
            return self._look_earliest(head, channel.inputs[1])
        if channel.op == "at":
            return self._look_at(head, channel.inputs[1:])
        return self._look_at_some(channel)

    def copies(self, channels: Sequence[Channel]) -> None:
        """The heads write the given channels' sources to them, and nothing else.

        Raises:
            Rejected: If a matrix has an entry that it should not have.
        """
        stated: set[tuple[int, int, int]] = set()
        for channel in channels:
            source = self.statement.channels[channel.inputs[0]]
            if source.name not in self.stream.names:
                raise Rejected(f"{source.name!r} is not there where a head reads it")
            alike = source.one_hot == channel.one_hot
            if not alike or len(source.span) != len(channel.span):
                raise Rejected(f"{channel.name!r} has another code than its source")
            if channel.head is None or channel.head >= len(self.out):
                raise Rejected(f"channel {channel.name!r} names no head")
            dims = zip(source.span, channel.span, strict=True)
            stated |= {(channel.head, *pair) for pair in dims}
        if len({head for head, _, _ in stated}) < len(self.out):
            raise Rejected("a head serves no channel")
        # One term in every sum: no rounding but that of the attention itself.
        carries = self.value != 0
        if (carries.sum(axis=1) > 1).any() or not _unit(self.value):
            raise Rejected("a head's values are not copies of single dimensions")
        if (self.value.any(axis=1) != self.out.any(axis=2)).any():
            raise Rejected("a head carries a value that it does not write")
        if ((self.out != 0).sum(axis=(0, 1)) > 1).any():
            raise Rejected("several heads write to one dimension")
        head, column, written = np.nonzero(self.out)
        read = carries.argmax(axis=1)[head, column]
        found = zip(head.tolist(), read.tolist(), written.tolist(), strict=True)
        if set(found) != stated:
            raise Rejected("the heads of a block copy other dimensions than stated")

    def gain(self, channel: Channel) -> float:
        """By what the head multiplies what it copies, the same in each dimension.

        Raises:
            Rejected: If it is no power of two, which multiplies without rounding.
        """
        gains = {float(g) for g in self.out[channel.head][:, channel.span].sum(axis=0)}
        if len(gains) != 1 or any(np.frexp(g)[0] != 0.5 for g in gains):
            raise Rejected(
                f"the head of {channel.name!r} scales what it copies unevenly"
            )
        return gains.pop()

    def carried(self, channel: Channel, look: Look) -> FloatArray:
        """The noise of each value of a channel that a sharp head has copied."""
        if self.gain(channel) != 1.0:
            raise Rejected(f"the head of {channel.name!r} changes what it copies")
        source = self.statement.channels[channel.inputs[0]]
        values = np.array(channel.domain)
        if not np.isin(values, source.domain).all():
            raise Rejected(f"{channel.name!r} has values that its source does not have")
        code = np.abs(channel.code(values))
        noise = self.stream.noise_at(source, values)[:, None]
        largest = max(source.domain) + float(self.stream.noise[source.name].max())
        self._check_sums(largest)
        unit = self.precision.accumulator_unit
        # The right weight is 1 − leak up to the roundings of sum and quotient.
        astray = 2 * look.leak + ROUNDINGS * unit
        if is_narrow(self.precision):
            # With fused multiply-add its exponent is not 0 but up to u·largest.
            exponent = 1.5 * unit * look.largest
            # Rounded to 1 before it multiplies, but not where it is divided by.
            astray += exponent + (AT_ZERO if exponent <= NEAR else COARSE)
            astray += 2 * self.precision.unit * (astray >= self.precision.unit / 2)
        error = noise + (code + noise) * astray + 4 * look.leak * max(largest, 1.0)
        return per_value(
            channel, values, self._written(channel, code, error).max(axis=1)
        )

    def _check_sums(self, largest: float) -> None:
        """Kernels may sum values in binary32, or wider, before they normalise."""
        if largest * len(self.positions) > FLOAT32.largest:
            raise Rejected("a sum of values can overflow before it is normalised")

    def _written(
        self, channel: Channel, value: FloatArray, error: FloatArray
    ) -> FloatArray:
        """The error after storing the head's result and adding it to a free dimension."""
        if (self.stream.owner[channel.span] >= 0).any() or (
            self.stream.owner[channel.span] == FEATURE
        ).any():
            raise Rejected(f"a head writes {channel.name!r} over something else")
        if np.any(np.abs(value) + error > self.precision.largest):
            raise Rejected(f"{channel.name!r} can overflow in {self.precision.name}")
        error = self._stored(value, error)
        free = float(self.stream.free[channel.span].max())
        return self._stored(value, error + free) if free else error

    def _stored(self, value: FloatArray, error: FloatArray) -> FloatArray:
        snapped = snaps_to_itself(value, error, self.precision)
        rounding = self.precision.unit * (
            np.abs(value) + error + self.precision.smallest
        )
        return np.where(snapped, 0.0, error + rounding)

    def _features(self, matrix: FloatArray, *others: str) -> None:
        """A projection may read position features and the named channels only."""
        used = np.flatnonzero((matrix != 0).any(axis=1))
        for dimension in used:
            if self.stream.owner[dimension] == FEATURE:
                continue
            if self.stream.channel_of(int(dimension)) not in others:
                raise Rejected(
                    "a head's scores depend on a dimension that they must not"
                )

    def _projected(
        self, matrix: FloatArray, positions: FloatArray | None = None
    ) -> Noisy:
        """Queries or keys that depend on the position alone, ``(T + 1, k)``."""
        # Products with zero entries are zero; only what is read bears on exactness.
        used = np.flatnonzero(matrix.any(axis=1))
        known = self.positions if positions is None else positions
        x = Noisy.exact(known[:, used], self.precision)
        return x.affine(matrix[used], np.zeros(matrix.shape[1]))

    def _look_back(self, head: int, by: int) -> Look:
        self._features(self.query[head])
        self._features(self.key[head])
        q, k = self._projected(self.query[head]), self._projected(self.key[head])
        self._spend_on_pairs()
        error = self._score_error(q, k)
        leak, gap, peak = 0.0, np.inf, 0.0
        rows = max(1, CELLS // len(k.value))
        for low in range(0, len(q.value), rows):
            found = _leak_back(q.value[low : low + rows], k.value, low, by)
            leak, gap = max(leak, found[0]), min(gap, found[1])
            peak = max(peak, found[2])
        return self._sharp(leak, gap, *self._finished(error, peak + error))

    def _spend_on_pairs(self) -> None:
        """What is looked at for all pairs of positions."""
        self.statement.effort.spend(len(self.positions) ** 2 // PAIRS_IN_A_STEP)

    def _score_error(self, q: Noisy, k: Noisy) -> float:
        """The error of any score, before it is stored or exponentiated."""
        size_q = (np.abs(q.value) + q.total).max(axis=0)
        size_k = (np.abs(k.value) + k.total).max(axis=0)
        inherited = size_q @ k.total.max(axis=0) + size_k @ q.total.max(axis=0)
        largest = float(size_q @ size_k)
        if largest > self.precision.largest:
            raise Rejected(f"scores can overflow in {self.precision.name}")
        terms = np.count_nonzero(size_q * size_k) + 1
        return float(inherited + 2 * terms * self.precision.accumulator_unit * largest)

    def _finished(self, error: float, largest: float) -> tuple[float, float]:
        """The error of a stored score with its exponent, and the largest score."""
        unit = self.precision.unit + 8 * self.precision.accumulator_unit
        return error + unit * largest, largest

    def _sharp(self, leak: float, gap: float, error: float, largest: float) -> Look:
        if len(self.positions) * self.precision.accumulator_unit > 0.25:
            raise Rejected("so many positions are too many for sums in this format")
        # Adding up exponentials rounds too: one logarithm for each position.
        own = 4 * FLOAT64.unit * len(self.positions) * largest
        own += drift(self.precision, len(self.positions))
        with np.errstate(over="ignore"):
            leak = leak * float(np.exp(2 * error + own))
        if not (leak < 0.125 and gap > 2 * error):
            raise Rejected(
                f"a head may look elsewhere: its score gap is {gap:.3g}, the error of a "
                f"score up to {error:.3g}, and up to {leak:.2g} of its weight leaks"
            )
        return Look(leak, gap, error, largest)

    def _look_latest(self, head: int, where: str) -> Look:
        """Flagged positions in ascending order of score, above all unflagged ones."""
        self._features(self.query[head])
        self._features(self.key[head], where)
        q = self._projected(self.query[head])
        if (q.total != 0).any():
            raise Rejected("the query of a latest-match head is not exact")
        keys = self._flagged_keys(head, where)
        moving = (q.value != q.value[0]).any(axis=0)
        if moving.any():
            return self._look_latest_by_position(q, keys, moving)
        scores, error, peak = self._scored(keys, q.value[:1])
        leak, gap = leak_latest(scores.reshape(2, -1))
        return self._sharp(leak, gap, error, peak)

    def _look_earliest(self, head: int, where: str) -> Look:
        """Flagged positions in descending order of score, above BOS and the others."""
        self._features(self.query[head])
        self._features(self.key[head], where)
        q = self._projected(self.query[head])
        if (q.total != 0).any() or (q.value != q.value[0]).any():
            raise Rejected(
                "the query of a head for the earliest flag is not one number"
            )
        keys = self._flagged_keys(head, where)
        scores, error, peak = self._scored(keys, q.value[:1])
        leak, gap = leak_earliest(scores.reshape(2, -1))
        return self._sharp(leak, gap, error, peak)

    def _look_at(self, head: int, digits: tuple[str, ...]) -> Look:
        """The position that digits say, or else BOS."""
        self._features(self.query[head], *digits)
        self._features(self.key[head])
        self._spend_on_pairs()
        pointing = Pointing(
            query=self.query[head],
            keys=self._projected(self.key[head]),
            positions=self.positions,
            stream=self.stream,
            statement=self.statement,
            precision=self.precision,
        )
        return self._sharp(*pointing.worst(digits))

    def _look_latest_by_position(
        self, q: Noisy, keys: Noisy, moving: BoolArray
    ) -> Look:
        """The flag's worth may grow with the position that looks, and nothing else."""
        plain, flagged = np.split(keys.value[:, moving], 2)
        if plain.any() or (flagged != flagged[0]).any():
            raise Rejected("a latest-match head treats positions unevenly as t grows")
        fixed = keys.value[:, ~moving] @ q.value[0, ~moving]
        bonus = q.value[:, moving] @ flagged[0]
        leak, gap = leak_growing(fixed.reshape(2, -1), bonus)
        error, peak = self._error_of(q, keys)
        return self._sharp(leak, gap, error, peak)

    def _error_of(self, q: Noisy, keys: Noisy) -> tuple[float, float]:
        """The error of any score of an exact query, and of its exponent; the largest."""
        error = self._score_error(q, keys) if keys.total.any() else 0.0
        size_q = np.abs(q.value).max(axis=0)
        largest = float((np.abs(keys.value) + keys.total).max(axis=0) @ size_q)
        step = step_of(keys.value) * step_of(q.value)
        holds = largest < step * 2.0**self.precision.digits
        if not holds or step < self.precision.smallest:
            return self._finished(self._score_error(q, keys), largest)
        # True scores are numbers of the format: storing at most doubles an error.
        return 2 * error + 8 * self.precision.accumulator_unit * largest, largest

    def _look_in_sibling(self, head: int, where: str, level: int) -> Look:
        """The last flagged position of the sibling block, or else BOS."""
        self._features(self.query[head])
        self._features(self.key[head], where)
        q = self._projected(self.query[head])
        if (q.total != 0).any():
            raise Rejected("the query of a head that looks into blocks is not exact")
        keys = self._flagged_keys(head, where)
        self._spend_on_pairs()
        leak, gap, error, peak = 0.0, np.inf, 0.0, 0.0
        rows = max(1, CELLS // (4 * len(keys.value)))
        for low in range(0, len(q.value), rows):
            # In high levels neighbours ask the same.
            alike = np.unique(q.value[low : low + rows], axis=0, return_inverse=True)
            scores, *bounds = self._scored(keys, alike[0])
            plain, flagged = np.split(scores[alike[1].reshape(-1)], 2, axis=1)
            found = leak_in_sibling(plain, flagged, low, level)
            leak, gap = max(leak, found[0]), min(gap, found[1])
            error, peak = max(error, bounds[0]), max(peak, bounds[1])
        return self._sharp(leak, gap, error, peak)

    def _scored(
        self, keys: Noisy, queries: FloatArray
    ) -> tuple[FloatArray, float, float]:
        """Scores ``(queries, keys)`` of exact queries, their error, and the largest.

        Fused kernels do not store scores, so noise may be there that a store removes.
        """
        scores = keys.accumulated(queries.T)
        error = max(float(scores.total.max()), float(scores.stored().total.max()))
        largest = float(np.abs(scores.value).max()) + error
        exponent = 8 * self.precision.accumulator_unit * largest
        return np.ascontiguousarray(scores.value.T), error + exponent, largest

    def _flagged_keys(self, head: int, where: str) -> Noisy:
        """``(2 (T + 1), k)``: the keys of all positions, unflagged, then flagged."""
        flag = self.statement.channels[where]
        span = list(flag.span)
        if flag.one_hot or not set(flag.domain) <= {0, 1}:
            raise Rejected(f"the flag {where!r} is not 0 or 1")
        x = np.stack([self.positions, self.positions])
        x[1][:, span] = 1.0
        flat = x.reshape(-1, x.shape[-1])
        rest = np.zeros_like(flat)
        rest[:, span] = self.stream.noise[where].max()
        used = np.flatnonzero(self.key[head].any(axis=1))
        key = Noisy(flat[:, used], (), (), rest[:, used], self.precision)
        return key.affine(self.key[head][used], np.zeros(self.key.shape[2]))

    def _look_match(self, head: int, key: str, query: str) -> Look:
        """For each query: matches in ascending order, above BOS, above all others."""
        self._features(self.query[head], query)
        self._features(self.key[head], key)
        matching = Matching(
            query=self.query[head],
            key=self.key[head],
            positions=self.positions,
            stream=self.stream,
            statement=self.statement,
            reach=self.reach,
            precision=self.precision,
        )
        leak, gap, scores = matching.worst(key, query)
        return self._sharp(leak, gap, scores.error, scores.largest)

    def _look_at_some(self, channel: Channel) -> Look:
        """The same weight on all positions that count, hardly any on the others."""
        found = self._scores(channel)
        leak = float(found.weights().leaked.max())
        return Look(leak, 0.0, max(found.errors), found.largest)

    def _scores(self, channel: Channel) -> Scores:
        """The scores of a head that adds up, by positions and flags of positions."""
        assert channel.head is not None
        where = channel.inputs[1:]
        self._features(self.query[channel.head])
        self._features(self.key[channel.head], *where)
        positions = self.positions.copy()
        for flag in map(self.statement.channels.__getitem__, where):
            if flag.name not in self.stream.names or self.stream.noise[flag.name].any():
                raise Rejected(f"{flag.name!r} is not there where a head reads it")
            positions[:, flag.span] = flag.code(flag.values)
        counts = np.array(added(channel, self.statement)) == 1
        q = self._projected(self.query[channel.head])
        k = self._projected(self.key[channel.head], positions)
        return scores(q, k, counts)

    def counted(self, channel: Channel) -> FloatArray:
        """The noise of a channel that a head has summed.

        Raises:
            Rejected: If sums could be confused at some length up to T.
        """
        source = self.statement.channels[channel.inputs[0]]
        if source.one_hot:
            raise Rejected(f"the sum {channel.name!r} needs an integer to add up")
        noise = float(self.stream.noise[source.name].max())
        gain, found = self.gain(channel), self._scores(channel)
        weights = found.weights()
        most = found.counted * max(source.domain)
        self._check_sums(float(max(source.domain)) + noise)
        share = gain * weights.each
        error = most * (np.abs(share - 1) + share * weights.relative)
        error = error + gain * weights.leaked * max(source.domain)
        # The weights are a convex combination up to their own errors.
        error = error + gain * noise * weights.whole
        worst = float(self._written(channel, most, error).max())
        values = np.array(channel.domain)
        return per_value(channel, values, np.full(len(values), worst))


def _unit(matrix: FloatArray) -> bool:
    return bool(np.isin(matrix, (0.0, 1.0)).all())


def _leak_back(
    q: FloatArray, k: FloatArray, first: int, by: int
) -> tuple[float, float, float]:
    """Worst leak, smallest gap and largest score of rows that should look ``by`` back.

    The rows are those of positions ``first``, ``first`` + 1, …
    """
    rows = np.arange(len(q))
    t = first + rows
    scores = q @ k[: first + len(q)].T
    peak = max(float(scores.max()), -float(scores.min()))
    scores[:, first:][np.triu_indices(len(q), 1)] = -np.inf
    target = np.maximum(t - by, 0)
    right = scores[rows, target].copy()
    scores[rows, target] = -np.inf
    gap = right - scores.max(axis=1)
    # Each of the t other weights is at most e^-gap of the right one.
    return float((t * np.exp(-gap)).max()), float(gap.min()), peak
