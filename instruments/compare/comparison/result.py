"""The result of a comparison: numbers and names, to and from JSON; nothing here runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Self

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count, cut
from krohn.instruments.compare.measures.accuracy import (
    Rate,
    Spread,
)
from krohn.instruments.compare.probes.probe_map import ProbeMap
from krohn.program.results import from_object, to_object

PACKAGE = "krohn.instruments.compare"


class Written:
    """A comparison, which `krohn compare --json` writes.

    Attributes:
        task: What is asked, in words.
        origin: How to do it again.
        version: Of how it is written.
        drawing: The module of `krohn.instruments.compare` that draws it.
    """

    task: str
    origin: "Origin"
    version: int
    drawing: ClassVar[str]

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        json_object: dict[str, Any] = to_object(self)
        return json_object

    def html(self) -> str:
        """Itself as a page: no scripts, and nothing is fetched."""
        page: str = self._draw_part("render")
        return page

    def headline(self) -> Sequence[str]:
        """Sentences on the proof, and on what training reached."""
        sentences: Sequence[str] = self._draw_part("headline")
        return sentences

    def table(self) -> Sequence[Sequence[str]]:
        """The columns of the table on a terminal, and its rows."""
        rows: Sequence[Sequence[str]] = self._draw_part("table")
        return rows

    def further_tables(self) -> Sequence[Sequence[Sequence[str]]]:
        """Tables that follow it, each with its columns in the first row."""
        return ()

    def _draw_part(self, part: str) -> Any:
        return getattr(import_module(f"{PACKAGE}.{self.drawing}"), part)(self)

    def _repr_html_(self) -> str:
        from krohn.notebook import frame_page

        return frame_page(self.html())

    @classmethod
    def from_object(cls, stated: object) -> Self:
        """Read the object that `to_object` gave.

        Raises:
            KrohnError: If it is of another version, or damaged.
        """
        if not isinstance(stated, Mapping) or "version" not in stated:
            raise KrohnError("this is no comparison that `krohn compare --json` wrote")
        if stated["version"] != cls.version:
            raise KrohnError(
                f"the comparison is of version {stated['version']!r}, and this Krohn reads "
                f"version {cls.version}; make it again"
            )
        own = {key: value for key, value in stated.items() if key != "schema"}
        return from_object(cls, own, "the comparison")


# The findings inside trained networks: variables, their use, patterns of attention.


@dataclass(frozen=True)
class ProbeResult:
    """Which variables of derived networks a trained one holds and uses.

    Attributes:
        key: Of the model.
        title: Which network.
        found: The map.
    """

    key: str
    title: str
    found: ProbeMap


@dataclass(frozen=True)
class AttentionMap:
    """A head's pattern on one word, trained or compiled.

    Attributes:
        key: Of the model.
        title: Which head.
        weights: A row for each position that looks.
        remark: What it is most like, for example.
    """

    key: str
    title: str
    weights: tuple[tuple[float, ...], ...]
    remark: str = ""


@dataclass(frozen=True)
class AttentionMaps:
    """Heads of several networks on one word.

    Attributes:
        word: Its letters.
        patterns: Compiled heads first.
        remarks: What figures of similarity say.
    """

    word: tuple[str, ...]
    patterns: tuple[AttentionMap, ...]
    remarks: tuple[str, ...] = ()


# Networks that are compared: what each gets right, costs, and first gets wrong.
#
# Every share is a number in [0, 1]. Networks are known by their keys, `KEYS`; those that
# are trained come once for each seed, all others once.


COMPILED, GPT, LSTM, NGRAM, MAJORITY = "compiled", "gpt", "lstm", "ngram", "majority"
KEYS = (COMPILED, GPT, LSTM, NGRAM, MAJORITY)


@dataclass(frozen=True)
class CompiledProof:
    """The proof of the compiled network.

    Attributes:
        verdict: Of `krohn.verify`.
        covers: What is proved, or why nothing is.
        length: The longest word; None for every length.
        construction: How the network was built.
        dtype: In which number format it runs.
        seconds: How long compiling and proving took.
    """

    verdict: str
    covers: str
    length: int | None
    construction: str
    dtype: str
    seconds: float


@dataclass(frozen=True)
class Size:
    """The cost of a network.

    Attributes:
        parameters: Numbers that are stored.
        depth: Layers that look back, one after another; None for what has none.
        flops: Of one word of the length that was trained on; None if not counted.
        latency: Seconds for such a word by itself; None if not timed.
    """

    parameters: int
    depth: int | None
    flops: int | None
    latency: float | None


@dataclass(frozen=True)
class Training:
    """How a network was trained.

    Attributes:
        steps: After which steps it was evaluated.
        loss: On the words that it was trained on, since the last evaluation.
        accuracy: Token accuracy on fresh words.
        seconds: In all.
        outcome: In words, how it ended.
    """

    steps: tuple[int, ...]
    loss: tuple[float | None, ...]
    accuracy: tuple[float, ...]
    seconds: float
    outcome: str


@dataclass(frozen=True)
class Failure:
    """The first word on which a network is found wrong, or what was searched in vain.

    Attributes:
        word: The letters; None if none was found.
        expected: What is right after each letter.
        actual: What the network says.
        length: Words of up to so many letters were looked at.
        searched: In words, what was run.
        minimal: Why the word is as short as it is.
        replay: The command that shows it again; None if there is none.
    """

    word: tuple[str, ...] | None
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    length: int
    searched: str
    minimal: str = ""
    replay: str | None = None


@dataclass(frozen=True)
class TrainedProof:
    """The answer of `krohn.verify` about a trained network, for words of every length.

    Attributes:
        verdict: ``verified``, ``refuted`` or ``undecided``.
        said: The words that it covers, or why there is no proof.
        again: The command that proves it again; None if the network is not kept.
    """

    verdict: str
    said: str
    again: str | None = None


@dataclass(frozen=True)
class SeedResult:
    """A network of one seed.

    Attributes:
        seed: None for what is not drawn.
        token: Right answers, of all letters after which one is asked for.
        sequence: Words with right answers only.
        failure: The first failing word.
        training: How it came about; None for what is not trained.
        proof: The answer of `krohn.verify`; None where it was not asked.
    """

    seed: int | None
    token: Rate
    sequence: Rate
    failure: Failure | None = None
    training: Training | None = None
    proof: TrainedProof | None = None


@dataclass(frozen=True)
class ModelResult:
    """A network, or a rule to set numbers beside.

    Attributes:
        key: One of `KEYS`.
        title: What tables call it.
        about: What it is, in a few words.
        ones: One for each seed.
        token: Token accuracy over seeds; None for what is not drawn.
        sequence: Sequence accuracy over seeds; None for what is not drawn.
        size: What it costs; None for rules.
    """

    key: str
    title: str
    about: str
    ones: tuple[SeedResult, ...]
    token: Spread | None
    sequence: Spread | None
    size: Size | None = None


# The result of a comparison as a whole.


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
    """A number that is smaller here than in the thesis."""

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
    """A derived network beside trained ones, as the page of a comparison shows it.

    Attributes:
        machine: As JSON states it (docs/formats.md).
        task: What is asked, in words.
        inputs: Which words networks are trained on and measured on, in words.
        classes: How many answers there are.
        length: Of the words that are trained on.
        preset: Which sizes.
        proved: What is proved of the compiled network.
        contestants: The models, in the order of `KEYS`.
        sweeps: Token accuracy along position, bias, count and length.
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
    proved: CompiledProof
    contestants: tuple[ModelResult, ...]
    sweeps: tuple[Sweep, ...]
    strategies: tuple[Strategy, ...]
    probes: tuple[ProbeResult, ...]
    maps: AttentionMaps | None
    reductions: tuple[Reduction, ...]
    origin: Origin
    version: int = 2
    drawing: ClassVar[str] = "draw_comparison_page"

    @property
    def name(self) -> str:
        """Of the machine."""
        return str(self.machine.get("name", ""))

    def of(self, key: str) -> ModelResult | None:
        """The result of a model, if it takes part."""
        return next((c for c in self.contestants if c.key == key), None)

    def further_tables(self) -> Sequence[Sequence[Sequence[str]]]:
        """How many variables of derived networks each trained one has and uses."""
        return [self._draw_part("variables")] if self.probes else ()

    def __repr__(self) -> str:
        models = count(len(self.contestants), "model")
        return f"<Comparison on {cut(self.name, 40)}: {models}, {self.preset}>"
