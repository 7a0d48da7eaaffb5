"""Many machines at once."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"batch": f"{__name__}.commands:batch"},
    schemas={
        "batch": Schema(
            "`krohn batch --json`, and its table as a .json file",
            f"{__name__}.commands_schemas:Batch",
            2,
        ),
    },
)
