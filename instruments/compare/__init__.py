"""Compiled networks beside trained ones, and beside other people's."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"compare": f"{__name__}.commands:compare"},
    schemas={
        "compare": Schema(
            "`krohn compare --json`", f"{__name__}.commands_schemas:COMPARISON", 2
        ),
    },
    parts={"trained networks": f"{__name__}.models.files:load"},
    public={
        "compare": f"{__name__}.comparison.compare",
        "Comparison": f"{__name__}.comparison.result",
    },
)
