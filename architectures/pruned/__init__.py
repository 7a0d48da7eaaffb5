"""Pruned RNNs: fewer units than the machine has states."""

from krohn.program.slices import Slice

SLICE = Slice(
    rules={"relu_boxes": f"{__name__}.check"},
    finders={f"{__name__}.check": f"{__name__}.find:simulation"},
    networks={("rnn", "pruned"): f"{__name__}.commands:networks"},
    uses=("architectures.recurrent",),
)
