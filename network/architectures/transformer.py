"""Transformers."""

from krohn.network.architecture import Kind, declare
from krohn.program.architectures.transformer import Transformer

KIND = declare(
    Kind(
        Transformer,
        title="Transformer",
        width_of=lambda transformer: transformer.d_model,
        runtime="krohn.network.transformer:Transformer",
        layers_of=lambda transformer: [
            {"heads": block.heads, "mlp": list(block.mlp)}
            for block in transformer.blocks
        ],
        sparse_of=lambda transformer: transformer.sparse,
        program=True,
    )
)
