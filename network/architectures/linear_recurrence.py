"""Linear RNNs of real vectors."""

from krohn.network.architecture import Kind, declare
from krohn.program.architectures.linear_recurrence import LinearRecurrence

KIND = declare(
    Kind(
        LinearRecurrence,
        title="linear RNN",
        width_of=lambda linear: linear.hidden,
        runtime="krohn.network.state_space:LinearRecurrence",
        recurrent=True,
        answers="reals",
    )
)
