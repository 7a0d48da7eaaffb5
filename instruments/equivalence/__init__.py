"""Whether two machines, programs or models mean the same."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={"equivalent": f"{__name__}.commands:equivalent"},
    public={"equivalent": f"{__name__}.question", "twins": f"{__name__}.models"},
)
