"""A set of networks with known circuits, and scores of methods that look for them."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={
        "workbench": f"{__name__}.commands:workbench",
        "score": f"{__name__}.commands:score",
    },
    modules={"workbench": f"{__name__}.workbench"},
    uses=("architectures.exports", "architectures.disguise"),
)
