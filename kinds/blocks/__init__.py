"""Texts in blocks: machines and linear systems that write their state now and then."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "text-in-blocks": Source(
            f"{__name__}.commands:TextsInBlocks",
            objects=(f"{__name__}.statement",),
            inputs=f"{__name__}.statement_inputs:in_blocks",
            sense="generates",
        ),
        "vectors-in-blocks": Source(
            f"{__name__}.commands:LinearSystemsInBlocks",
            objects=("krohn.kinds.linear_systems.source",),
            inputs=f"{__name__}.statement_inputs:in_blocks",
        ),
    },
    readers={
        ("transformer", "text-in-blocks"): "transformer",
        ("transformer", "vectors-in-blocks"): f"{__name__}.check_vectors",
    },
    programs={"text-in-blocks": f"{__name__}.check"},
    finders={
        f"{__name__}.check": f"{__name__}.find:refinement",
        f"{__name__}.check_vectors": "krohn.kinds.linear_systems.find:norms",
    },
    uses=("kinds.linear_systems",),
)
