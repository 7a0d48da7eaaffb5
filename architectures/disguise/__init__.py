"""Disguised networks: other tensors that compute the same."""

from krohn.program.slices import Slice

SLICE = Slice(
    rules={"disguise": f"{__name__}.check"},
    public={"fine_tuned": f"{__name__}.commands"},
)
