"""How long words may be in each number format: by compiling and proving again.

A file says nothing of other lengths. What is found here is about networks of the same
construction for the same machine, each compiled and proved as a file would be.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from krohn.algebra.budget import ENTRIES, Budget, steps_of
from krohn.algebra.errors import KrohnError
from krohn.compilation import compile as compiled
from krohn.compiler.constructions.registry import construction_named
from krohn.foreign import names_machine, own_machine
from krohn.machines import OWN
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.block_kinds import BlockKinds
from krohn.program.claim import Shows
from krohn.program.errors import Refused

EFFORT = "high"
LIMIT = 4096
"""No longer word is tried: proofs take the square of it in time and memory."""
PROVING = 10_000
"""Array operations that it takes to compile and to prove the smallest networks."""
PASSES = 500
"""Over each parameter of larger ones."""
BLOCKS = BlockKinds("compiling again", units=("relu", "sine", "gelu"))


@dataclass(frozen=True)
class Longest:
    """The longest certified word of a number format.

    Attributes:
        dtype: The format.
        length: The longest word that was certified; 0 if none was.
        refused: The shortest length that was refused; None if none was.
        open: Whether a longer word may be certified, too.
        how: In words, how this was found.
    """

    dtype: str
    length: int
    refused: int | None
    open: bool
    how: str


def longest(
    file: ModelFile,
    proved: bool,
    effort: str | float = EFFORT,
    formats: Collection[str] = tuple(PRECISIONS),
) -> list[Longest] | str:
    """The longest certified words of a model's construction in number formats.

    Args:
        file: The model.
        proved: Whether it was proved itself.
        effort: How much work to do for all formats together: a key of
            `krohn.algebra.budget.EFFORTS`, or steps.
        formats: Which formats; all of them, if nothing is said.

    Returns:
        A line for each format; or in words, why there is none.
    """
    name, claimed = file.header.get("construction"), file.claim.length
    kind = kind_of(file.architecture)
    if kind.recurrent and claimed is None:
        return (
            f"A{kind.called[1:]} has no longest word: its proof holds for every length."
        )
    if not names_machine(file):
        return "The file states no machine that could be compiled again."
    known = isinstance(name, str) and construction_named(name) is not None
    if not known or type(claimed) is not int:
        return "The file names no construction of Krohn that could be compiled again."
    try:
        BLOCKS.check(file.architecture)
    except Refused as reason:
        return f"Longer words were not tried: {reason}."
    if not proved:
        return "This network was not proved, so longer words were not tried."
    budget = Budget(steps_of(effort))
    size = parameters(file.architecture)
    rows: list[Longest] = []
    for dtype in formats:
        share = budget.part(budget.left / (len(formats) - len(rows)))
        probe = partial(count_certified_parameters, file, str(name), dtype)
        search = _Search(probe, share, claimed, size)
        rows.append(search.run(dtype, own=dtype == file.precision.name))
    return rows


def count_certified_parameters(
    file: ModelFile, construction: str, dtype: str, length: int
) -> int:
    """The parameters of what is proved in a format at a length; 0 if nothing is."""
    machine = own_machine(file)
    layers = [x for block in file.architecture.blocks for x in block.activations]
    used = [name for name in ("sine", "gelu") if any(name in names for names in layers)]
    outputs = file.claim.shows is Shows.OUTPUTS
    try:
        model = compiled(
            machine,
            length,
            construction,
            dtype=dtype,
            strict=file.architecture.strict,
            activation=used[0] if used else "relu",
            observe=OWN if outputs else None,
        )
    except KrohnError:
        return 0
    return parameters(model.file.architecture)


class _Search:
    """A search for the greatest length that passes, within a budget.

    The work for a length is that of a network of a known length, with as many times its
    parameters as the square of the length has grown.
    """

    def __init__(
        self, probe: Callable[[int], int], budget: Budget, start: int, size: int
    ) -> None:
        self.probe, self.budget, self.start, self.size = probe, budget, start, size
        self.good, self.bad, self.known = 0, LIMIT + 1, start

    def run(self, dtype: str, own: bool) -> Longest:
        """Double or halve until lengths on both sides are known, then bisect."""
        start = self.start
        if own:
            self.good = start
        elif self._affords(min(start, LIMIT)):
            self._try(min(start, LIMIT))
        while (self.good or self.bad <= LIMIT) and not self._narrow:
            if not self._affords(self._next()):
                break
            self._try(self._next())
        refused = self.bad if self.bad <= LIMIT else None
        still_open = self.good > 0 and not (refused and self._narrow)
        how = self._how_found(refused, own and self.good == start)
        return Longest(dtype, self.good, refused, still_open, how)

    @property
    def _narrow(self) -> bool:
        if self.bad > LIMIT:  # nothing was refused
            return self.good >= LIMIT
        return self.bad - self.good <= max(1, self.good // 100)

    def _entries(self, length: int) -> int:
        return round(PASSES * self.size * max(1.0, length / self.known) ** 2)

    def _affords(self, length: int) -> bool:
        return PROVING + self._entries(length) // ENTRIES <= self.budget.left

    def _next(self) -> int:
        if self.bad > LIMIT:
            return min(2 * self.good, LIMIT)
        return (self.good + self.bad) // 2

    def _try(self, length: int) -> None:
        self.budget.spend(self._entries(length), PROVING)
        size = self.probe(length)
        if size:
            self.good = max(self.good, length)
            self.known, self.size = length, size
        else:
            self.bad = min(self.bad, length)

    def _how_found(self, refused: int | None, own: bool) -> str:
        compiled = "this file" if own else "compiled and proved"
        if self.good == 0:
            return f"{refused} is refused" if refused else "not tried: too much work"
        if refused is None:
            most = self.good >= LIMIT
            why = "no longer one was tried" if most else "a longer one is too much work"
            return f"{compiled}; {why}"
        rest = "" if self._narrow else "; lengths between were not tried"
        return f"{compiled}; {refused} is refused{rest}"
