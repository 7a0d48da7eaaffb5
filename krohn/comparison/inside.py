"""What is found inside trained networks: variables, their use, patterns of attention."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """What a probe of one layer came to.

    Attributes:
        score: Accuracy on words held out, or R² where values are numbers.
        control: The same for labels without meaning.
        untrained: The same on the network before training.
    """

    score: float
    control: float | None
    untrained: float | None


@dataclass(frozen=True)
class Variable:
    """A variable of the derived networks, looked for in each layer of a trained one.

    Attributes:
        name: What it is.
        held: By which derived networks, in words.
        values: How many it takes.
        chance: The score of always saying what is most frequent.
        cells: One for each layer.
    """

    name: str
    held: str
    values: int
    chance: float
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Exchange:
    """What exchanging a variable in a layer does to the answers.

    Attributes:
        variable: Which.
        layer: Where.
        cases: How many pairs of words.
        agrees: How often the answer is what the derived network says it would be.
        random: The same for a random subspace of the same dimension.
        whole: The same for the whole state of the layer.
        nothing: The same where nothing is exchanged.
    """

    variable: str
    layer: str
    cases: int
    agrees: float
    random: float
    whole: float
    nothing: float


@dataclass(frozen=True)
class ProbeMap:
    """Which variables a trained network holds, and which it uses.

    Attributes:
        key: Of the contestant.
        title: Which network.
        layers: Their names.
        variables: From the one that is found best to the one that is found least.
        exchanges: The causal test of the best candidates.
        found: Sentences on what was found, no stronger than the causal test allows.
    """

    key: str
    title: str
    layers: tuple[str, ...]
    variables: tuple[Variable, ...]
    exchanges: tuple[Exchange, ...]
    found: tuple[str, ...]


@dataclass(frozen=True)
class Attention:
    """A head's pattern on one word, trained or compiled.

    Attributes:
        key: Of the contestant.
        title: Which head.
        weights: A row for each position that looks.
        remark: What it is most like, for example.
    """

    key: str
    title: str
    weights: tuple[tuple[float, ...], ...]
    remark: str = ""


@dataclass(frozen=True)
class Maps:
    """Heads of several networks on one word.

    Attributes:
        word: Its letters.
        patterns: Compiled heads first.
        remarks: What figures of similarity say.
    """

    word: tuple[str, ...]
    patterns: tuple[Attention, ...]
    remarks: tuple[str, ...] = ()
