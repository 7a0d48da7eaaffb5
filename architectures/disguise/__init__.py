"""Disguised networks: other tensors that compute the same."""

from krohn.program.slices import Slice

SLICE = Slice(
    public={"fine_tuned": f"{__name__}.commands"},
)
