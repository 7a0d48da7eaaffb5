"""A head that is uniform on marked positions."""

from krohn.program.statement import Channel
from krohn.verify.checker.attention.heads import Heads, Look, Rule
from krohn.verify.checker.attention.prefix_sum import added_up
from krohn.verify.checker.model_file import FloatArray


class MarkedSummed(Rule):
    """The sum over the marked positions so far."""

    operation = "marked-sum"

    def noise(
        self, heads: Heads, channel: Channel, gain: float
    ) -> tuple[FloatArray, Look]:
        """Theorem 13."""
        return added_up(heads, channel, gain)
