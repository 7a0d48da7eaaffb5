"""Whether two machines, programs or models mean the same."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"equivalent": f"{__name__}.commands:equivalent"},
    schemas={
        "equivalent": Schema(
            "`krohn equivalent --json`", f"{__name__}.commands_schemas:EQUIVALENT", 2
        ),
    },
    public={"equivalent": f"{__name__}.question", "twins": f"{__name__}.models"},
    uses=(
        "architectures.generator",
        "architectures.pruned",
        "instruments.learning",
        "kinds.counting",
    ),
)
