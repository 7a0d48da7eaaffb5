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
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:lines",
            sense="generates",
        )
    },
    readers={("transformer", "rewriting"): "transformer"},
    tasks={"texts": f"{__name__}.task:derivations"},
    programs={"rewriting": f"{__name__}.check"},
    finders={f"{__name__}.check": "krohn.verify.search.same_program:of_model"},
    uses=("kinds.dynamic_programs",),
)
