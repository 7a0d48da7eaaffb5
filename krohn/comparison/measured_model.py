"""What was measured of the networks of one kind, seed by seed."""

from dataclasses import dataclass

from krohn.compare.measures.rates import spread
from krohn.comparison.measurements import Measurements
from krohn.comparison.model_results import (
    Failure,
    ModelResult,
    SeedResult,
    Size,
    Training,
)


@dataclass(frozen=True)
class MeasuredSeed:
    """A network of one seed with all that is known of it.

    Attributes:
        seed: None for what is not drawn.
        measured: What was measured.
        failure: The first failing word; None if none was searched.
        training: How it came about; None for what is not trained.
    """

    seed: int | None
    measured: Measurements
    failure: Failure | None = None
    training: Training | None = None


@dataclass(frozen=True)
class MeasuredModel:
    """The networks of one kind.

    Attributes:
        key: One of `KEYS`.
        title: What tables call it.
        about: What it is.
        seeds: One for each seed.
        size: What it costs.
    """

    key: str
    title: str
    about: str
    seeds: tuple[MeasuredSeed, ...]
    size: Size | None = None

    def result(self) -> ModelResult:
        """What tables show of it."""
        ones = tuple(
            SeedResult(
                e.seed, e.measured.token, e.measured.sequence, e.failure, e.training
            )
            for e in self.seeds
        )
        drawn = all(one.seed is not None for one in ones)
        token = spread([one.token.value for one in ones]) if drawn else None
        sequence = spread([one.sequence.value for one in ones]) if drawn else None
        return ModelResult(
            self.key, self.title, self.about, ones, token, sequence, self.size
        )
