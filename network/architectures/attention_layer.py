"""Attention layers of real vectors."""

from krohn.network.architecture import Kind, declare
from krohn.program.architectures.attention_layer import AttentionLayer

KIND = declare(
    Kind(
        AttentionLayer,
        title="attention layer",
        width_of=lambda layer: layer.features,
        runtime="krohn.network.attention_layer:AttentionLayer",
        layers_of=lambda layer: [
            {"heads": 1, "mlp": [*layer.features_units, *layer.output_units]}
        ],
        answers="reals",
    )
)
