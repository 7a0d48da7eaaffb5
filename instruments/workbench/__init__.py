"""A set of networks with known circuits, and scores of methods that look for them."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={
        "workbench": f"{__name__}.commands:workbench",
        "score": f"{__name__}.commands:score",
    },
    schemas={
        "interchange": Schema(
            "a line of `pairs.jsonl` of a workbench",
            f"{__name__}.commands_schemas:Interchange",
            2,
            printed=False,
        ),
        "score": Schema("`krohn score --json`", f"{__name__}.scoring:Score", 2),
        "workbench": Schema(
            "`krohn workbench --json`", f"{__name__}.commands_schemas:WORKBENCH", 3
        ),
        "workbench-index": Schema(
            "`workbench.json` of a workbench",
            f"{__name__}.commands_schemas:WorkbenchIndex",
            3,
            printed=False,
        ),
        "workbench-word": Schema(
            "a line of `words.jsonl` of a workbench",
            f"{__name__}.commands_schemas:WorkbenchWord",
            2,
            printed=False,
        ),
    },
    parts={"workbench": f"{__name__}.workbench"},
    uses=(
        "architectures.disguise",
        "architectures.exports",
        "architectures.gpt2",
        "kinds.counting",
        "kinds.dynamic_programs",
        "kinds.grammars",
        "kinds.hidden_markov",
        "kinds.rewriting",
    ),
)
