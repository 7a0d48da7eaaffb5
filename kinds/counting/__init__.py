"""Counting programs (C-RASP)."""

from krohn.program.slices import Family, Schema, Slice

SLICE = Slice(
    families={
        "program": Family(
            f"{__name__}.commands:function_named",
            f"{__name__}.source_examples:EXAMPLES",
            "crasp:",
            (".crasp",),
            objects=(f"{__name__}.source_program",),
            taken=f"{__name__}.commands:function_of",
            written=f"{__name__}.commands:written",
        )
    },
    tasks={"unrolling": f"{__name__}.task:unrolling"},
    commands={"crasp": f"{__name__}.command_line:crasp"},
    schemas={
        "crasp": Schema(
            "`krohn crasp --json`", f"{__name__}.commands_schemas:CountingProgram"
        ),
    },
    uses=("kinds.sequence_functions",),
)
