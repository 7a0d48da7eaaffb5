"""Probabilistic grammars, cut to a depth: hidden Markov models of their words."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"grammar": f"{__name__}.command_line:grammar"},
    schemas={
        "grammar": Schema(
            "`krohn grammar --json`", f"{__name__}.commands_schemas:Grammar"
        ),
    },
    uses=("kinds.hidden_markov",),
)
