"""Disguised networks: other tensors that compute the same."""

from krohn.program.slices import Slice

SLICE = Slice(
    rules={"disguise": f"{__name__}.check"},
    parts={"disguises": f"{__name__}.build"},
    public={"fine_tuned": f"{__name__}.commands"},
)
