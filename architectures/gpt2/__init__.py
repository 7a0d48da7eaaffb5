"""Networks with the shape of GPT-2, layer norms and all."""

from krohn.program.slices import Export, Slice

SLICE = Slice(
    exports={"gpt2": Export(f"{__name__}.export", ("torch", "transformers"))},
    parts={"directory": f"{__name__}.commands"},
    rules={"directory": f"{__name__}.check"},
    uses=("architectures.exports",),
)
