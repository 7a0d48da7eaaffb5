"""Elman networks with ReLUs; their matrices may be sparse, or products."""

from dataclasses import dataclass

from krohn.program.architecture import Architecture, Shapes, compressed_rows
from krohn.program.errors import demand
from krohn.program.stated import Count, Part, Size

MATRICES = ("hidden", "input", "unembed")


@dataclass(frozen=True)
class RandomNetwork(Part):
    """The random network that a pruned one is cut from: a label for who makes it anew."""

    seed: Count
    units: Size


@dataclass(frozen=True)
class Rnn(Architecture):
    """h_t = ReLU(h_{t−1} W + x_t U + b), logits h_t R + c.

    Sparse matrices have ``entries``: W is a product of two, by ``rank``, or each of the
    three is, by ``ranks``.
    """

    kind = "rnn"
    check = "recurrent"
    hidden: Size
    vocabulary: Size
    outputs: Size
    rank: Size | None = None
    ranks: dict[str, Size] | None = None
    entries: dict[str, Count] | None = None
    random: RandomNetwork | None = None

    def __post_init__(self) -> None:
        pruned = self.ranks is not None
        demand(self.rank is None or not pruned, "a matrix has two ranks")
        demand(self.random is None or pruned, "no random network is cut")
        if self.entries is None:
            demand(
                self.rank is None and not pruned, "only sparse matrices are products"
            )
        else:
            alike = self.entries.keys() == self.sparse.keys()
            demand(alike, "'entries' does not name each sparse matrix")

    @property
    def version(self) -> int:
        """Products and sparse matrices are new."""
        return 5 if self.ranks is not None else 1 if self.entries is None else 3

    @property
    def sparse(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each sparse matrix."""
        if self.entries is None:
            return {}
        ranks = {"hidden": self.rank} if self.ranks is None else self.ranks
        all_three = self.ranks is None or set(ranks) == set(MATRICES)
        demand(all_three, "'ranks' does not name the three matrices")
        shapes = dict[str, tuple[int, int]]()
        for name, (rows, columns) in self._ends.items():
            if name not in ranks:
                shapes[f"{name}.weight"] = rows, columns
                continue
            rank = ranks[name] or 0
            demand(rank > 0, f"the matrix {name!r} has no rank")
            shapes |= {f"{name}.left": (rows, rank), f"{name}.right": (rank, columns)}
        return shapes

    @property
    def shapes(self) -> Shapes:
        """A sparse matrix is three tensors."""
        shapes: Shapes = {"hidden.start": (self.hidden,), "hidden.bias": (self.hidden,)}
        shapes["unembed.bias"] = (self.outputs,)
        if self.entries is None:
            return shapes | {f"{name}.weight": x for name, x in self._ends.items()}
        return shapes | compressed_rows(self.sparse, self.entries)

    @property
    def _ends(self) -> dict[str, tuple[int, int]]:
        n, letters, outputs = self.hidden, self.vocabulary, self.outputs
        return dict(zip(MATRICES, ((n, n), (letters, n), (n, outputs)), strict=True))
