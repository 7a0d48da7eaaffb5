"""Networks that are compared: what each gets right, costs, and first gets wrong.

Every share is a number in [0, 1]. Networks are known by their keys, `KEYS`; those that
are trained come once for each seed, all others once.
"""

from dataclasses import dataclass

from krohn.compare.measures.rates import Rate, Spread

COMPILED, GPT, LSTM, NGRAM, MAJORITY = "compiled", "gpt", "lstm", "ngram", "majority"
KEYS = (COMPILED, GPT, LSTM, NGRAM, MAJORITY)


@dataclass(frozen=True)
class Proved:
    """What is proved of the compiled network.

    Attributes:
        verdict: Of `krohn.verify`.
        covers: For which words, in words.
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
    """What a network costs.

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
class SeedResult:
    """A network of one seed.

    Attributes:
        seed: None for what is not drawn.
        token: Right answers, of all letters after which one is asked for.
        sequence: Words with right answers only.
        failure: The first failing word.
        training: How it came about; None for what is not trained.
    """

    seed: int | None
    token: Rate
    sequence: Rate
    failure: Failure | None = None
    training: Training | None = None


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
