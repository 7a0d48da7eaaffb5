"""Machines learned back from networks."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"learn": f"{__name__}.commands:learn"},
    schemas={
        "learn": Schema(
            "`krohn learn --json`", f"{__name__}.commands_schemas:LearnedMachine"
        ),
    },
    public={"Learned": f"{__name__}.learner", "learn": f"{__name__}.learner"},
    uses=(
        "architectures.exports",
        "architectures.gated",
        "architectures.gpt2",
        "instruments.compare",
    ),
)
