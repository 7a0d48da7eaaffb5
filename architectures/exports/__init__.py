"""Exports to other libraries, each read back there."""

from krohn.program.slices import Export, Slice

SLICE = Slice(
    exports={
        "transformer-lens": Export(
            f"{__name__}.export_transformer_lens",
            ("torch", "transformer_lens"),
        ),
        "huggingface": Export(
            f"{__name__}.export_huggingface", ("torch", "transformers")
        ),
        "onnx": Export(f"{__name__}.export_onnx", ("torch", "onnx", "onnxruntime")),
    },
    commands={"export": f"{__name__}.command_line:export"},
    public={"Export": f"{__name__}.commands", "export": f"{__name__}.commands"},
)
