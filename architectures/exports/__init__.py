"""Exports to other libraries, each read back there."""

from krohn.program.slices import Export, Schema, Slice

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
    schemas={
        "export": Schema(
            "`krohn export --json`", f"{__name__}.commands_schemas:Exported", 3
        ),
        "circuit": Schema(
            "`circuit.json` of an export or of a workbench",
            f"{__name__}.commands_schemas:Circuit",
            3,
            printed=False,
        ),
    },
    parts={
        "hugging face": f"{__name__}.export_huggingface",
        "circuit picture": f"{__name__}.draw_circuit",
    },
    public={"Export": f"{__name__}.commands", "export": f"{__name__}.commands"},
)
