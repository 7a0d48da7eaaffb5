"""What a comparison came to: numbers and names, to and from JSON; nothing here runs."""

from dataclasses import dataclass
from typing import Any, ClassVar

from krohn.algebra.wording import count, cut
from krohn.compare.measures.rates import Rate
from krohn.comparison.interpretability import AttentionMaps, ProbeResult
from krohn.comparison.json_values import Written
from krohn.comparison.model_results import ModelResult, Proved


@dataclass(frozen=True)
class Curve:
    """Token accuracy of one model: for each seed, at each place of the axis.

    A place where nothing was asked, or the network cannot go, is None.
    """

    key: str
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Sweep:
    """Token accuracy along something that is varied.

    Attributes:
        title: What is varied.
        axis: What stands along the axis.
        said: A place in a sentence, with ``{}`` for it.
        at: The places, ascending.
        trained: Between which places the training words lie; None if that says nothing.
        proved: Up to which place the proof reaches; None if it covers all of them.
        words: How many at each place.
        curves: Of the models.
        remark: What is to be known to read it.
    """

    title: str
    axis: str
    said: str
    at: tuple[float, ...]
    trained: tuple[float, float] | None
    proved: float | None
    words: int
    curves: tuple[Curve, ...]
    remark: str = ""


@dataclass(frozen=True)
class Strategy:
    """Token accuracy on words of one kind that are made to break networks.

    Attributes:
        name: Of the strategy of `krohn.verify.testing.strategies`.
        words: How many.
        shares: By key, for each seed.
    """

    name: str
    words: int
    shares: dict[str, tuple[Rate, ...]]


@dataclass(frozen=True)
class Reduction:
    """What is smaller here than in the thesis."""

    what: str
    thesis: str
    here: str


@dataclass(frozen=True)
class Origin:
    """How it came about.

    Attributes:
        command: That does it again.
        commit: Of the source; empty if it is not known.
        versions: Of what took part, by name.
        device: On what it ran.
        date: When it was finished, UTC.
        seconds: How long this sitting took; runs that were done before are not in it.
        seeds: Of the trained networks.
        remarks: What was left out, and why.
    """

    command: str
    commit: str
    versions: dict[str, str]
    device: str
    date: str
    seconds: float
    seeds: tuple[int, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison(Written):
    """All of it.

    Attributes:
        machine: As JSON states it (docs/formats.md).
        task: What is asked, in words.
        inputs: Which words networks are trained on and measured on, in words.
        classes: How many answers there are.
        length: Of the words that are trained on.
        preset: Which sizes.
        proved: What is proved of the compiled network.
        contestants: The models, in the order of `KEYS`.
        sweeps: AccuracyCurve position, bias, count and length.
        strategies: Words that are made to break networks.
        probes: A map for each kind of trained network, of its best seed.
        maps: Attention.
        reductions: Against the thesis.
        origin: How to do it again.
    """

    machine: dict[str, Any]
    task: str
    inputs: str
    classes: int
    length: int
    preset: str
    proved: Proved
    contestants: tuple[ModelResult, ...]
    sweeps: tuple[Sweep, ...]
    strategies: tuple[Strategy, ...]
    probes: tuple[ProbeResult, ...]
    maps: AttentionMaps | None
    reductions: tuple[Reduction, ...]
    origin: Origin
    version: int = 1
    page: ClassVar[str] = "comparison_page"

    @property
    def name(self) -> str:
        """Of the machine."""
        return str(self.machine.get("name", ""))

    def of(self, key: str) -> ModelResult | None:
        """The result of a model, if it takes part."""
        return next((c for c in self.contestants if c.key == key), None)

    def __repr__(self) -> str:
        models = count(len(self.contestants), "model")
        return f"<Comparison on {cut(self.name, 40)}: {models}, {self.preset}>"
