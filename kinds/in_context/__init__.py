"""Learners in context: gradient descent on a prompt, by attention."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "context-learner": Source(
            f"{__name__}.commands:InContexts",
            r"InContext(?![\w,]*+\.[a-z])",
            objects=(f"{__name__}.source",),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:whole_prompts",
        )
    },
    parts={"learner in context": f"{__name__}.source_prompts:answer_prompts"},
    readers={("transformer", "context-learner"): f"{__name__}.check"},
)
