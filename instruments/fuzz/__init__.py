"""One network by many engines, kernels, batches and orders of sums."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"fuzz": f"{__name__}.commands:fuzz"},
    schemas={
        "fuzz": Schema("`krohn fuzz --json`", f"{__name__}.commands_schemas:Fuzz")
    },
    public={"Fuzz": f"{__name__}.campaign", "fuzz": f"{__name__}.campaign"},
    uses=("architectures.exports", "instruments.attack"),
)
