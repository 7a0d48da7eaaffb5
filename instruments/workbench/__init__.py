"""A set of networks with known circuits, and scores of methods that look for them."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={
        "workbench": "krohn.instruments.batch.commands:workbench",
        "score": "krohn.instruments.batch.commands:score",
    },
    modules={"workbench": f"{__name__}.workbench"},
    uses=("architectures.exports", "architectures.disguise"),
)
