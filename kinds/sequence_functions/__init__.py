"""Functions of sequences, written in Python or as text."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "program": Source(
            f"{__name__}.commands:SequenceFunctions",
            "program:",
            (".program",),
            objects=(f"{__name__}.source_builder",),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs="krohn.program.inputs:words",
            sense="exact",
        )
    },
    readers={("transformer", "program"): "transformer"},
    programs={"program": f"{__name__}.check"},
    finders={f"{__name__}.check": "krohn.verify.search.same_program:of_model"},
    public={"program": f"{__name__}.source"},
)
