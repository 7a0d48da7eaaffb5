"""Exports to other libraries, each read back there."""

from krohn.program.slices import Export, Slice

SLICE = Slice(
    exports={
        "transformer-lens": Export(
            f"{__name__}.export_transformer_lens",
            ("transformer_lens",),
            "transformer-lens",
        ),
        "huggingface": Export(
            f"{__name__}.export_huggingface", ("transformers",), "huggingface"
        ),
        "onnx": Export(f"{__name__}.export_onnx", ("onnx", "onnxruntime"), "onnx"),
    },
    commands={"export": "krohn.commands.export:export"},
    public={"Export": f"{__name__}.commands", "export": f"{__name__}.commands"},
)
