"""Pruned networks: masks that leave a machine of random matrices."""

from krohn.program.slices import Slice

SLICE = Slice(
    rules={"relu_boxes": f"{__name__}.check", "masks": f"{__name__}.check_masks"},
    finders={f"{__name__}.check": f"{__name__}.find:simulation"},
    networks={
        ("rnn", "pruned"): f"{__name__}.commands:recurrent_networks",
        ("transformer", "pruned"): f"{__name__}.commands:transformers",
    },
    uses=("architectures.disguise", "architectures.recurrent"),
)
