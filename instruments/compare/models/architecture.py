"""Architectures: descriptions of networks without weights, as plain values."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import takes

Positions = Literal["sinusoidal", "linear", "learned", "none", "alibi", "rope"]
Weighs = Literal["linear", "sparse"]

MOST_POSITIONS = 2**17
"""Attention over more letters fits no memory; a damaged file may ask for any number."""


@dataclass(frozen=True)
class Gpt:
    """A causal Transformer like GPT-2: layer norm first, GELU, residual connections.

    Attributes:
        depth: Blocks (thesis, section 3.4.2: 1 to 16).
        width: Of the residual stream (512).
        heads: In each block (8).
        inner: Width of the MLPs (512).
        positions: How a letter knows where it is (instruments/compare/models/gpt.py);
            ``"rope"`` is GPT-NeoX, which differs from GPT-2 in nothing else.
        scale: The factor of sinusoidal and linear positions. Letters start
            with a spread of 0.02, beside which blocks would see only waves of size 1:
            at width 64, parity is learned with 0.1 and not with 1 (docs/models.md).
        dropout: Of attention weights and of the outputs of heads and MLPs.
        embedding_dropout: Of the embedded letters (section 3.5.4: up to 0.5).

    Raises:
        KrohnError: If there is no such network.
    """

    depth: int = 2
    width: int = 64
    heads: int = 4
    inner: int = 256
    positions: Positions = "sinusoidal"
    scale: float = 0.1
    dropout: float = 0.0
    embedding_dropout: float = 0.0

    kind: ClassVar[str] = "gpt"

    def __post_init__(self) -> None:
        _at_least_one(self, "depth", "width", "heads", "inner")
        _shares(self, "dropout", "embedding_dropout")
        if self.positions not in get_args(Positions):
            known = get_args(Positions)
            raise KrohnError(takes("--positions", known, self.positions))
        if not self.scale > 0:
            raise KrohnError(f"positions have a scale above 0, not {self.scale!r}")
        if self.width % self.heads:
            raise KrohnError(
                f"{self.heads} heads do not divide a width of {self.width}"
            )
        if self.positions == "rope" and self.width // self.heads % 2:
            raise KrohnError(
                "rotary positions need heads of even width, not "
                f"{self.width // self.heads}"
            )

    @property
    def description(self) -> str:
        """A description in a few words, for tables."""
        return (
            f"GPT-2 of {self.depth} blocks, width {self.width}, {self.heads} heads, "
            f"positions: {self.positions}"
        )


@dataclass(frozen=True)
class EfficientGpt(Gpt):
    """GPT-2 with heads that do not look at everything (Yang et al. 2024, section 3).

    Attributes:
        attention: ``"linear"``: weights are φ(k)·φ(q) over their sum, φ(x) = elu(x) + 1;
            or ``"sparse"``: a softmax over the last positions and one in each block.
        block: B of sparse heads: a position sees the last B, its own among them, and the
            last one of each block of B.

    Raises:
        KrohnError: If there is no such network.
    """

    attention: Weighs = "linear"
    block: int = 8

    kind: ClassVar[str] = "efficient-gpt"

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least_one(self, "block")
        if self.attention not in get_args(Weighs):
            known = " or ".join(get_args(Weighs))
            raise KrohnError(f"attention is {known}, not {self.attention!r}")
        if self.positions in ("alibi", "rope"):
            raise KrohnError(
                f"{self.attention} heads take positions that are added to letters, not "
                f"{self.positions}"
            )

    @property
    def description(self) -> str:
        """A description in a few words, for tables."""
        return f"{super().description}, {self.attention} attention"


@dataclass(frozen=True)
class Lstm:
    """An embedding, an LSTM and a linear read-out.

    Attributes:
        embedding: Width of the embedded letters (thesis, section 3.4.5.3: 64).
        hidden: Units (128).
        layers: One above the other (1).
        dropout: Between them.

    Raises:
        KrohnError: If there is no such network.
    """

    embedding: int = 64
    hidden: int = 128
    layers: int = 1
    dropout: float = 0.0

    kind: ClassVar[str] = "lstm"

    def __post_init__(self) -> None:
        _at_least_one(self, "embedding", "hidden", "layers")
        _shares(self, "dropout")

    @property
    def description(self) -> str:
        """A description in a few words, for tables."""
        layers = "" if self.layers == 1 else f" in {self.layers} layers"
        return f"LSTM of {self.hidden} units{layers}"


@dataclass(frozen=True)
class Rnn:
    """A recurrent layer of ReLUs that reads letters as unit vectors, and a read-out.

    Attributes:
        hidden: Units (Hu et al. 2024, section 4.1: 64).

    Raises:
        KrohnError: If there are none.
    """

    hidden: int = 64

    kind: ClassVar[str] = "rnn"
    layers: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _at_least_one(self, "hidden")

    @property
    def description(self) -> str:
        """A description in a few words, for tables."""
        return f"RNN of {self.hidden} ReLUs"


Cell = Literal["rnn", "gru", "lstm"]


@dataclass(frozen=True)
class RecurrentLayer:
    """One layer of torch's that reads letters as unit vectors, and a read-out.

    Such a network can be proved for words of every length (docs/architectures/gated.md).

    Attributes:
        cell: ``"rnn"`` (with tanh), ``"gru"`` or ``"lstm"``.
        hidden: Units.

    Raises:
        KrohnError: If there is no such network.
    """

    cell: Cell = "lstm"
    hidden: int = 16

    kind: ClassVar[str] = "recurrent-layer"
    layers: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _at_least_one(self, "hidden")
        if self.cell not in get_args(Cell):
            known = ", ".join(get_args(Cell))
            raise KrohnError(f"recurrent layers are {known}, not {self.cell!r}")

    @property
    def description(self) -> str:
        """A description in a few words, for tables."""
        return f"{self.cell.upper()} of {self.hidden} units"


Noisy = Literal["nonzero", "all"]


@dataclass(frozen=True)
class Derived:
    """A compiled network as it is, or as where training starts.

    Attributes:
        file: Its model file.
        trains: Whether its weights may change; they are float32 then.
        noise: How much Gaussian noise they get first, relative to their size.
        noisy: Which weights: the ones that are not 0, each relative to itself, or all,
            relative to the root mean square of the ones that are not 0 in their tensor.

    Raises:
        KrohnError: If that makes no sense.
    """

    file: str
    trains: bool = False
    noise: float = 0.0
    noisy: Noisy = "nonzero"

    kind: ClassVar[str] = "derived"

    def __post_init__(self) -> None:
        if not self.noise >= 0:
            raise KrohnError(f"noise must not be negative: {self.noise!r}")
        if self.noisy not in get_args(Noisy):
            raise KrohnError(f"noise is on 'nonzero' or 'all', not {self.noisy!r}")
        if self.noise and not self.trains:
            raise KrohnError("noise is for compiled networks that train afterwards")

    @property
    def description(self) -> str:
        """A description in a few words, for tables."""
        if not self.trains:
            return "compiled"
        start = f" with noise of {self.noise:g}" if self.noise else " weights"
        return f"trained from the compiled{start}"


Architecture: TypeAlias = Gpt | EfficientGpt | Lstm | Rnn | RecurrentLayer | Derived

KINDS: dict[str, type[Architecture]] = {
    kind.kind: kind for kind in (Gpt, EfficientGpt, Lstm, Rnn, RecurrentLayer, Derived)
}


@dataclass(frozen=True)
class Specification:
    """All that a network is but its weights.

    Attributes:
        architecture: What it is made of.
        letters: How many it reads.
        classes: How many it tells apart.
        longest: The longest word, with its shift, that positions are made for.

    Raises:
        KrohnError: If one of the numbers is not positive, or there are too many positions.
    """

    architecture: Architecture
    letters: int
    classes: int
    longest: int

    def __post_init__(self) -> None:
        _at_least_one(self, "letters", "classes", "longest")
        if self.longest > MOST_POSITIONS:
            raise KrohnError(
                f"positions are made for up to {MOST_POSITIONS} letters, not "
                f"{self.longest}"
            )


def to_object(architecture: Architecture) -> dict[str, Any]:
    """An architecture as JSON holds it: its fields, and its kind."""
    return {"kind": architecture.kind, **asdict(architecture)}


def from_object(stated: Mapping[str, Any]) -> Architecture:
    """The architecture that JSON states.

    Raises:
        KrohnError: If it states none.
    """
    fields = dict(stated)
    kind = KINDS.get(fields.pop("kind", ""))
    try:
        if kind is not None:
            return kind(**fields)
    except TypeError as error:
        raise KrohnError(f"an architecture is malformed: {error}") from None
    raise KrohnError(
        f"there is no architecture of the kind {stated.get('kind')!r}; there are "
        + ", ".join(KINDS)
    )


def _at_least_one(holder: object, *names: str) -> None:
    for name in names:
        value = getattr(holder, name)
        if type(value) is not int or value < 1:
            raise KrohnError(f"{name} must be a whole number above 0, not {value!r}")


def _shares(holder: object, *names: str) -> None:
    for name in names:
        value = getattr(holder, name)
        if not isinstance(value, int | float) or not 0 <= value < 1:
            raise KrohnError(f"{name} must be in [0, 1), not {value!r}")
