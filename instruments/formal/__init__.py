"""Proofs for Coq: model files as terms, and a theorem about them that Coq checks."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"formal": f"{__name__}.command_line:formal"},
    schemas={
        "formal": Schema("`krohn formal --json`", f"{__name__}.commands:Formal"),
    },
)
