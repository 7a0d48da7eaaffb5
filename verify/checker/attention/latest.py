"""A head that finds the last flagged position."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import FINEST, Noisy, finest, rounding
from krohn.verify.checker.arithmetic import INFLATION, SUM, fits
from krohn.verify.checker.attention.fetches import Fetches
from krohn.verify.checker.attention.heads import Bounds
from krohn.verify.checker.attention.scores import NEVER, earlier


class LatestFlag(Fetches):
    """The last flagged position up to t; BOS is flagged."""

    operation = "latest"
    last_asks = True
    bounded = True

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """Any position up to t."""
        return np.arange(size) <= t[:, None], False

    def look_far(self, q: Noisy, k: Noisy) -> Bounds:
        """The same, if only the worth of a flag moves with the query (Theorem 12b).

        Args:
            q: ``(T + 1, k)``: the queries.
            k: ``(2 · (T + 1), k)``: the keys, of unflagged positions first.
        """
        (u, f), moving = np.split(k.value, 2), (q.value != q.value[0]).any(axis=0)
        demand(not q.total.any(), "a query is not exact")
        even = not u[:, moving].any() and (f[:, moving] == f[0, moving]).all()
        demand(even, "a head has too many scores to check")
        plain, flagged = (x[:, ~moving] @ q.value[0, ~moving] for x in (u, f))
        bonus = q.value[:, moving] @ f[0, moving]
        plain[0] = NEVER
        before = earlier(np.maximum(plain - bonus.min(), flagged)[None])[0] - flagged
        behind = np.logaddexp.accumulate(plain) - bonus - np.minimum.accumulate(flagged)
        sums = k.widest().products(np.abs(q.value).max(axis=0)[:, None])
        # Multiples of a power of two above 1 may fit where as whole numbers they do not.
        grids = [finest(x.value * 2.0**-FINEST) - FINEST for x in (q, k)]
        grid = sum(grids) if max(grids) <= 0 else FINEST + 1
        off = rounding(q.form, sums.terms + 1, sums.size, sums.known, grid)
        size, error = (float(x.max()) for x in (sums.size, sums.rest + off))
        fits(size, q.form, "a score", SUM)
        narrow = q.form.unit * size * (q.form.unit > q.form.sum_unit)
        error = (error + narrow) * INFLATION + 8 * q.form.sum_unit * size
        return float(np.logaddexp(before.max(), behind.max())), error, error, size
