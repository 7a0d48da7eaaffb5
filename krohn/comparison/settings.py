"""What is compared, how large, and how long: what a user may choose."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict, cast

from krohn.algebra.errors import KrohnError
from krohn.compare.models.architecture import Positions
from krohn.compare.tasks.task import Task

SEEDS = 2
FRACTIONS = ((1, 4), (1, 2), (3, 4), (1, 1), (3, 2), (2, 1), (3, 1), (4, 1))
"""Words that are measured, in lengths of those that are trained on.

The thesis trains on 40 letters and measures on 8 to 128 (section 3.4.5.2.4)."""
MOST_CLASSES = 1000
"""Networks say one of so many things at most: read-outs, tables and probes grow with it.

The thesis goes up to 120 (S5)."""


class SettingKeywords(TypedDict, total=False):
    """The keywords of `krohn.compare` that `Settings` has."""

    depth: int | None
    seeds: int
    length: int | None
    positions: str | None
    jobs: int
    device: str
    runs: str | Path | None
    seconds: float | None
    steps: int | None
    width: int | None


@dataclass(frozen=True)
class Settings:
    """What a user may choose.

    Attributes:
        preset: Sizes and recipes, by name.
        depth: Layers of the Transformer that is trained; None for those of the preset. On
            a hidden Markov model, of the deepest one.
        seeds: How many networks of each kind are trained.
        length: Letters in the words that are trained on; None for those of the preset.
        positions: How the Transformer knows where a letter is; None for the preset's.
        jobs: How many networks are trained side by side.
        device: Where torch computes.
        runs: The folder of runs, which can be interrupted and go on; None keeps nothing.
        seconds: After so long no further training is begun; None for no limit.
        steps: Of training; None for those of the preset.
        width: Of the Transformer; None for that of the preset.
        named: Options that name the machine to `krohn run`; None if none do.

    Raises:
        KrohnError: If a number makes no sense.
    """

    preset: str = "desk"
    depth: int | None = None
    seeds: int = SEEDS
    length: int | None = None
    positions: str | None = None
    jobs: int = 2
    device: str = "cpu"
    runs: str | Path | None = None
    seconds: float | None = None
    steps: int | None = None
    width: int | None = None
    named: tuple[str, ...] | None = None

    @property
    def known(self) -> Positions | None:
        """The positions; other names are refused where the network is made."""
        return cast("Positions | None", self.positions)

    def __post_init__(self) -> None:
        for name in ("depth", "seeds", "length", "jobs", "steps", "width"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise KrohnError(f"{name} must be at least 1, not {value}")
        if self.seconds is not None and not self.seconds >= 0:
            raise KrohnError(f"seconds must not be negative: {self.seconds}")


def lengths_of(trained: int) -> tuple[int, ...]:
    """The lengths of words that are measured, ascending."""
    found = {max(1, trained * over // under) for over, under in FRACTIONS}
    return tuple(sorted(found))


def check(task: Task) -> None:
    """Refuse what cannot be compared.

    Raises:
        KrohnError: If the task has too many answers, or no compiled network answers it.
    """
    if task.predicts == "next":
        raise KrohnError(
            f"{task.name} asks for the next letter, and compiled networks say states; "
            "compare the machine itself"
        )
    if len(task.classes) > MOST_CLASSES:
        raise KrohnError(
            f"{task.name} has {len(task.classes):,} answers, and networks are compared up "
            f"to {MOST_CLASSES:,}; ask for less, as in 'S5 (first-chair)'"
        )


@contextmanager
def run_folder(runs: str | Path | None) -> Iterator[Path]:
    """The folder of the runs; one that goes afterwards if none is named."""
    if runs is not None:
        yield Path(runs)
        return
    with TemporaryDirectory(prefix="krohn-") as folder:
        yield Path(folder)
