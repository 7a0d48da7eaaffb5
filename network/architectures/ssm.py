"""State space models."""

from krohn.network.architecture import Kind, declare
from krohn.program.architectures.ssm import StateSpace

KIND = declare(
    Kind(
        StateSpace,
        title="state space model",
        width_of=lambda ssm: max(layer.coordinates for layer in ssm.layers),
        runtime="krohn.network.state_space:StateSpace",
        layers_of=lambda ssm: [
            {"heads": 0, "mlp": [*layer.decode, layer.hidden]} for layer in ssm.layers
        ],
        recurrent=True,
        bounded=True,
    )
)
