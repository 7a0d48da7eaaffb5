"""What a comparison on a hidden Markov model came to, to and from JSON; nothing runs."""

from dataclasses import dataclass
from typing import ClassVar

from krohn.algebra.wording import count, cut
from krohn.compare.measures.belief_scores import BeliefScores
from krohn.compare.probes.beliefs import LayerProbe
from krohn.comparison.json_values import Written
from krohn.comparison.model_results import Training
from krohn.comparison.result import Origin


@dataclass(frozen=True)
class BeliefProof:
    """What is proved of the compiled network.

    Attributes:
        verdict: Of `krohn.verify`.
        error: How far an output can be off; 0 if none is.
        length: For all words of up to so many letters.
        construction: How the network was built.
        dtype: In which number format it runs.
        seconds: How long compiling and proving took.
    """

    verdict: str
    error: float
    length: int
    construction: str
    dtype: str
    seconds: float


@dataclass(frozen=True)
class BeliefSeed:
    """A network of one seed.

    Attributes:
        seed: None for what is not drawn.
        scores: On fresh words of the length of training.
        since: From which evaluation on its 0.05-fit length was so; None for what is not
            trained, or fits nothing.
        probes: What is read after the embedding and after each layer.
        moved: How far attention moves in each layer if letters are shuffled.
        training: How it came about; `accuracy` is the share of outputs within 0.05.
    """

    seed: int | None
    scores: BeliefScores
    since: int | None = None
    probes: tuple[LayerProbe, ...] = ()
    moved: tuple[float, ...] = ()
    training: Training | None = None


@dataclass(frozen=True)
class BeliefModel:
    """The networks of one kind.

    Attributes:
        key: ``compiled``, ``exact``, ``rnn``, ``gpt1``, ``gpt2``, …, ``blocks`` or
            ``ngram``.
        title: What tables call it.
        about: What it is.
        depth: Of a Transformer that was trained without blocks; None for others.
        parameters: Numbers that are stored; None for rules.
        ones: One for each seed.
    """

    key: str
    title: str
    about: str
    depth: int | None
    parameters: int | None
    ones: tuple[BeliefSeed, ...]


@dataclass(frozen=True)
class Geometry:
    """Beliefs in three states: exact ones, and as read after the last layer.

    Attributes:
        title: Of the network.
        exact: ``(count, 3)``.
        read: The same positions.
    """

    title: str
    exact: tuple[tuple[float, ...], ...]
    read: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class BeliefComparison(Written):
    """All of it.

    Attributes:
        name: Of the model.
        task: What is asked, in words.
        states: How many numbers a belief has.
        letters: How many letters there are.
        probabilities: Whether outputs are laws.
        length: Of the words that are trained on.
        preset: Which sizes.
        proved: What is proved of the compiled network; None if there is none.
        models: All that is compared.
        geometry: For each kind of network whose beliefs are shown in a triangle.
        origin: How to do it again.
    """

    name: str
    task: str
    states: int
    letters: int
    probabilities: bool
    length: int
    preset: str
    proved: BeliefProof | None
    models: tuple[BeliefModel, ...]
    geometry: tuple[Geometry, ...]
    origin: Origin
    version: int = 1
    page: ClassVar[str] = "belief_page"

    def of(self, key: str) -> BeliefModel | None:
        """The result of a model, if it takes part."""
        return next((m for m in self.models if m.key == key), None)

    def __repr__(self) -> str:
        models = count(len(self.models), "model")
        return f"<BeliefComparison on {cut(self.name, 40)}: {models}, {self.preset}>"
