"""Probabilistic grammars, cut to a depth: hidden Markov models of their words."""

from krohn.program.slices import Family, Schema, Slice

SLICE = Slice(
    families={
        "hidden-markov": Family(
            f"{__name__}.source:model_named",
            f"{__name__}.source_examples:EXAMPLES",
            "pcfg:",
            (".pcfg",),
            simpler=f"{__name__}.source:shallower",
        )
    },
    commands={"grammar": f"{__name__}.command_line:grammar"},
    schemas={
        "grammar": Schema(
            "`krohn grammar --json`", f"{__name__}.commands_schemas:Grammar"
        ),
    },
    public={"grammar": f"{__name__}.commands_facts"},
    uses=("kinds.hidden_markov",),
)
