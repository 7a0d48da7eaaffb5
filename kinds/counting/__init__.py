"""Counting programs (C-RASP)."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    tasks={"unrolling": f"{__name__}.task:unrolling"},
    commands={"crasp": f"{__name__}.command_line:crasp"},
    schemas={
        "crasp": Schema(
            "`krohn crasp --json`", f"{__name__}.commands_schemas:CountingProgram"
        ),
    },
    uses=("kinds.sequence_functions", "instruments.equivalence"),
)
