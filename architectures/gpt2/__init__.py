"""Networks with the shape of GPT-2, layer norms and all."""

from krohn.program.slices import Export, Slice

SLICE = Slice(
    exports={"gpt2": Export(f"{__name__}.export", ("torch", "transformers"))},
    uses=("architectures.exports",),
)
