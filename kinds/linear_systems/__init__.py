"""Linear dynamical systems whose letters are matrices."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "linear-system": Source(
            f"{__name__}.commands:LinearSystems",
            r"(Cyclic-DET|Cyclic-RND|MatMul)\d",
            objects=(f"{__name__}.source",),
            of_machines="products",
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs="krohn.program.inputs:words",
        )
    },
    readers={
        ("transformer", "linear-system"): f"{__name__}.check",
        ("rnn", "linear-system"): f"{__name__}.check_rnn",
    },
    finders={
        f"{__name__}.check": f"{__name__}.find:norms",
        f"{__name__}.check_rnn": f"{__name__}.find:norms",
    },
    rules={
        "matrix_norms": f"{__name__}.check_matrix_norms",
        "product_gates": f"{__name__}.check_product_gates",
    },
    tasks={"beliefs": f"{__name__}.task:process"},
    networks={("rnn", "gated"): f"{__name__}.commands_machines:networks"},
    uses=("architectures.recurrent",),
)
