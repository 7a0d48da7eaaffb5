"""Compiled networks beside trained ones, and beside other people's."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={
        "compare": f"{__name__}.commands:compare",
        "attention": f"{__name__}.commands_attention:attention",
        "texts": f"{__name__}.commands_texts:texts",
    },
    schemas={
        "attention": Schema(
            "`krohn attention --json`", f"{__name__}.commands_schemas:Attention"
        ),
        "compare": Schema(
            "`krohn compare --json`", f"{__name__}.commands_schemas:COMPARISON", 2
        ),
        "texts": Schema(
            "`krohn texts --json`, and `texts.json` in its folder",
            f"{__name__}.commands_schemas:Texts",
        ),
    },
    parts={
        "trained networks": f"{__name__}.models.files:load",
        "attention of laws": f"{__name__}.draw_attention_of_laws:attention_picture",
    },
    public={
        "compare": f"{__name__}.comparison.compare",
        "Comparison": f"{__name__}.comparison.result",
    },
    uses=(
        "architectures.attention_layer",
        "architectures.gated",
        "architectures.generator",
        "instruments.limits",
    ),
)
