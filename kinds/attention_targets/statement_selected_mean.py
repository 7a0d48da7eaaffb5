"""Means over what is selected exactly, as model files state them."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from krohn.program.errors import demand
from krohn.program.stated import Size, StatedSource

Form: TypeAlias = Literal["nearest-point", "centre-of-gravity", "selection"]
NEAREST: Final = "nearest-point"
GRAVITY: Final = "centre-of-gravity"
SELECTION: Final = "selection"
SIZES: dict[str, tuple[str, ...]] = {
    NEAREST: ("grid",),
    GRAVITY: ("masses", "segments"),
    SELECTION: ("picks",),
}
"""The sizes that each form has beside its length."""
MOST = {"grid": 1024, "masses": 256, "segments": 64, "picks": 64}
LONGEST = 256


@dataclass(frozen=True)
class StatedSelectedMean(StatedSource):
    """A mean over selected positions.

    Attributes:
        name: What it is called.
        form: How positions are selected.
        length: τ: how many vectors an input has, at most; of a selection: exactly.
        grid: Of a nearest point: in how many parts an axis is divided.
        masses: Of a centre of gravity: the largest mass.
        segments: Of a centre of gravity: how many segments there are.
        picks: Of a selection: how often a vector is picked at most.
    """

    kind = "selected-mean"
    name: str
    form: Form
    length: Size
    grid: Size | None = None
    masses: Size | None = None
    segments: Size | None = None
    picks: Size | None = None

    def __post_init__(self) -> None:
        demand(self.form in SIZES, f"the form is one of {', '.join(SIZES)}")
        demand(1 <= self.length <= LONGEST, f"a length lies between 1 and {LONGEST}")
        known = SIZES[self.form]
        sizes = {what: getattr(self, what) for what in MOST}
        right = {what for what, size in sizes.items() if size is not None} == {*known}
        demand(right, f"sizes are {', '.join(known)}")
        for what in known:
            demand(
                1 <= sizes[what] <= MOST[what],
                f"{what} lies between 1 and {MOST[what]}",
            )
        fine = self.grid is None or self.grid & (self.grid - 1) == 0
        demand(fine, "the grid divides an axis by 1, 2, 4, 8, …")

    @property
    def sizes(self) -> tuple[int, ...]:
        """As `SIZES` names them."""
        return tuple(getattr(self, what) for what in SIZES[self.form])
