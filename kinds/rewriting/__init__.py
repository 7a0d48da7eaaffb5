"""Systems of rewriting rules, whose derivations a Transformer writes."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "rewriting": Source(
            f"{__name__}.commands:Rewritings",
            r"Arithmetic\d",
            (".rules",),
            ".rules",
            (f"{__name__}.statement",),
        )
    },
    readers={("transformer", "rewriting"): "transformer"},
    uses=("kinds.dynamic_programs",),
)
