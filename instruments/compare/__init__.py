"""Compiled networks beside trained ones, and beside other people's."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={"compare": f"{__name__}.commands:compare"},
    public={
        "compare": f"{__name__}.comparison.compare",
        "Comparison": f"{__name__}.comparison.result",
    },
)
