"""Generators, which say laws of letters."""

from krohn.network.architecture import Kind, declare
from krohn.program.architectures.generator import Generator

KIND = declare(
    Kind(
        Generator,
        title="generator",
        width_of=lambda generator: max(layer.d for layer in generator.layers),
        runtime="krohn.network.generator:Generator",
        layers_of=lambda generator: [
            {"heads": 1, "mlp": list(layer.mlp)} for layer in generator.layers
        ],
        answers="laws",
    )
)
