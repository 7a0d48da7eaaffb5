"""Machines learned back from networks."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={"learn": f"{__name__}.commands:learn"},
    public={"Learned": f"{__name__}.learner", "learn": f"{__name__}.learner"},
)
