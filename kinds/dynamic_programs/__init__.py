"""Dynamic programs, and the chains of thought that fill in their tables."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "chain-of-thought": Source(
            f"{__name__}.commands:ChainsOfThought",
            ends=(".dp",),
            catalogue=".dp",
            objects=(f"{__name__}.statement", f"{__name__}.source_dynamic_program"),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:prompts",
            sense="generates",
        ),
        "increasing": Source(
            f"{__name__}.commands_increasing:IncreasingSubsequences",
            r"ShortLIS\d",
            objects=(f"{__name__}.statement_increasing",),
            examples=f"{__name__}.source_examples:INCREASING",
            inputs=f"{__name__}.statement_inputs:lists",
            sense="generates",
        ),
    },
    readers={
        ("transformer", "chain-of-thought"): "transformer",
        ("transformer", "increasing"): "transformer",
    },
    tasks={"texts": f"{__name__}.task:continuations"},
    programs={
        "chain-of-thought": f"{__name__}.check",
        "increasing": f"{__name__}.check_increasing",
    },
    finders={
        f"{__name__}.check_increasing": "krohn.verify.search.same_program:of_model"
    },
    public={"dynamic_program": f"{__name__}.source"},
)
