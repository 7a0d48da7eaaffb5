"""Hot paths beside plain references, in one run: has one become slower?

A *hot path* is work that users wait for. Beside each runs plain code that does the same or
the like: the same weights by torch's own attention, a filter in six lines of numpy, a
closure of maps in Python, the import of numpy in a process. The two take turns, and the
ratio of the CPU seconds of their quickest turns hardly depends on the computer, nor on
what else it does.

`results/hot_paths` holds the ratios that were committed. The script ends with 1, and a line
for each path, if one has become slower by more than a third; a path that seems so is
measured twice more. ``make results TABLES=hot_paths`` writes the ratios of today.
"""

import atexit
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import torch
from decompositions import full_transformations
from plain_torch import PlainTransformer
from regenerate import RESULTS, read
from report import Row, Table, parser, publish
from speed import WARM, random_machine
from startup import children_seconds, spent

import krohn
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.monoid import TransformationMonoid
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.hidden_markov.commands import HiddenMarkovModels
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.model import Model
from krohn.network.precision import one_thread
from krohn.source_kinds.real_outputs import outputs
from krohn.verify.kernel.asking import find_kernel
from krohn.verify.proof import prove
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sharded import keep_memory

COMMITTED = RESULTS / "hot_paths" / "hot-paths.csv"
SLOWER = 4 / 3
TURNS, RETRIES = 9, 2
LEAST = 0.1
"""A turn takes so many CPU seconds, or more."""
TITLE = "hot paths"
BATCH, WORD = 64, 64

Work = Callable[[], object]


class Sides(NamedTuple):
    """A hot path, and what it is measured beside."""

    ours: Work
    plain: Work


@dataclass(frozen=True)
class HotPath:
    """What is measured.

    Attributes:
        name: What users wait for.
        beside: The plain reference.
        make: Makes both sides ready; None if what it needs is not installed.
    """

    name: str
    beside: str
    make: Callable[[], Sides | None]


def seconds(work: Work) -> float:
    """The CPU seconds of this process, and of those that it starts."""
    began, before = process_time(), children_seconds()
    work()
    return process_time() - began + children_seconds() - before


def repeated(work: Work) -> tuple[Work, int]:
    """Work as often as fills a turn, and how often that is."""
    work()
    count = max(1, round(LEAST / max(seconds(work), 1e-6)))

    def turn() -> None:
        for _ in range(count):
            work()

    return turn, count


def ratio(sides: Sides) -> float:
    """The CPU seconds of a hot path by those of its reference."""
    (ours, own), (plain, other) = map(repeated, sides)
    turns = [(seconds(ours), seconds(plain)) for _ in range(TURNS)]
    quickest, least = map(min, zip(*turns, strict=True))
    return (quickest / own) / (least / other)


# Plain references.


def closure(n: int) -> int:
    """How many maps of n points there are, by multiplying tuples until no new one comes."""
    letters = full_transformations(n).transitions.tolist()
    seen = {tuple(range(n))}
    new = list(seen)
    while new:
        made = {tuple([letter[q] for q in word]) for word in new for letter in letters}
        new = list(made - seen)
        seen |= made
    return len(seen)


def small_arrays() -> float:
    """Operations on arrays of a few hundred numbers, as proofs and builders make them."""
    x, total = np.arange(256.0).reshape(16, 16), 0.0
    for i in range(300):
        y = np.maximum(x @ x.T - i, 0)
        total += float(np.concatenate([y, x]).max()) + len(np.unique(y[0] > 3))
    return total


def python_and_arrays() -> None:
    """Half of the time in Python, half in small operations of numpy."""
    closure(4)
    small_arrays()


def filtered(model: HiddenMarkovModel, words: Any) -> Any:
    """Beliefs ``(batch, time, states)``."""
    operators = np.array(model.operators)
    belief = np.broadcast_to(model.start, (len(words), model.size))
    beliefs = []
    for letters in words.T:
        belief = np.einsum("bij,bj->bi", operators[letters], belief)
        belief = belief / belief.sum(axis=1, keepdims=True)
        beliefs.append(belief)
    return np.stack(beliefs, axis=1)


# Hot paths.


@cache
def folder() -> Path:
    """Where files lie until the end."""
    path = mkdtemp(prefix="krohn-")
    atexit.register(rmtree, path)
    return Path(path)


@cache
def compiled(name: str, length: int) -> Any:
    """A network that is not proved."""
    return krohn.compile(name, length, proof=False)


def building(name: str) -> Sides:
    """To plan a network and to build it."""
    source = name or random_machine(folder(), 20, 2, 2)
    ours = partial(krohn.compile, source, WORD, proof=False)
    return Sides(ours, python_and_arrays)


def proving() -> Sides:
    """The proof of a scan by the rules."""
    file, machine = compiled("S5", 256).file, krohn.zoo("S5")
    return Sides(partial(prove, file, machine), python_and_arrays)


def kernel() -> Sides | None:
    """The verdict of the kernel, with the search for its evidence."""
    if find_kernel() is None:
        return None
    path = folder() / "kernel.safetensors"
    compiled("S5", WORD).save(path)

    def ours() -> None:
        report = krohn.verify(path, kernel="require")
        if report.verdict != "verified":
            raise SystemExit(f"the kernel does not verify S5: {report.reason}")

    return Sides(ours, python_and_arrays)


def command(*arguments: str) -> Sides:
    """A process of ours beside one that imports numpy."""
    path = folder() / "S3.safetensors"
    compiled("S3", 8).save(path)
    words = [str(path) if word == "FILE" else word for word in arguments]
    bytecode = str(folder() / "bytecode")
    return Sides(
        partial(spent, ["-m", "krohn", *words], bytecode),
        partial(spent, ["-c", "import numpy"], bytecode),
    )


def passing(batch: int, length: int, copies: bool = False) -> Sides:
    """Whole words through a network, as one that is open reads them if heads copy."""
    plain_model = Model(compiled("S5", length).file)
    network = compiled("S5", length).model if copies else plain_model
    plain = PlainTransformer(plain_model)
    words = torch.randint(
        8, (batch, length), generator=torch.Generator().manual_seed(0)
    )

    @torch.inference_mode()
    def ours() -> None:
        network(words)

    for _ in range(WARM):
        ours()
    return Sides(ours, torch.inference_mode()(partial(plain.whole, words)))


def writing(batch: int) -> Sides:
    """Texts of a table of edit distances."""
    network = compiled("EditDistance8,8:letters=4", None).model
    source, plain = ChainsOfThought().of_file(network.file), PlainTransformer(network)
    low, high = np.array(source.prompt).T
    rng = np.random.default_rng(0)
    prompts = rng.integers(low, high + 1, size=(batch, len(low)))
    names = [[source.tokens[i] for i in prompt] for prompt in prompts]
    return Sides(
        partial(network.write, names),
        partial(plain.write, torch.from_numpy(prompts), source.length),
    )


def every_word() -> Sides:
    """All words of 10 letters; a plain pass runs 512 words of that length."""
    network, machine = Model(compiled("C3", 10).file), krohn.zoo("C3")
    words = torch.randint(3, (512, 10), generator=torch.Generator().manual_seed(0))
    plain = torch.inference_mode()(partial(PlainTransformer(network).whole, words))
    return Sides(partial(exhaustive, network, machine, 10), plain)


def enumerating() -> Sides:
    """All maps of 5 points."""
    letters = full_transformations(5).transitions
    return Sides(partial(TransformationMonoid.enumerate, letters), partial(closure, 5))


def lifting(n: int) -> Sides:
    """The holonomy decomposition of all maps of n points."""
    return Sides(partial(holonomy, full_transformations(n)), partial(closure, 5))


def believing(name: str, within: float | None, batch: int) -> Sides:
    """Beliefs of a hidden Markov model along words."""
    file = krohn.compile(name, WORD, within=within).file
    source = HiddenMarkovModels().of_file(file)
    words = source.sample(batch, WORD, np.random.default_rng(0))[0]
    return Sides(partial(outputs, file, words), partial(filtered, source, words))


OWN, NUMPY = "Python and small arrays", "a process that imports numpy"
ATTENTION, CACHE = "the same weights by torch's attention", "plain torch with a cache"
PATHS = (
    HotPath("plan and build C2, T = 64", OWN, partial(building, "C2")),
    HotPath("plan and build S5, T = 64", OWN, partial(building, "S5")),
    HotPath("plan and build 20 random states, T = 64", OWN, partial(building, "")),
    HotPath("prove a scan of S5, T = 256", OWN, proving),
    HotPath("the kernel verifies S5, T = 64", OWN, kernel),
    HotPath("krohn run", NUMPY, partial(command, "run", "FILE", "213")),
    HotPath("krohn zoo", NUMPY, partial(command, "zoo")),
    HotPath("a word through S5, T = 64", ATTENTION, partial(passing, 1, WORD)),
    HotPath("64 words through S5, T = 64", ATTENTION, partial(passing, BATCH, WORD)),
    HotPath("a word through S5, T = 1,024", ATTENTION, partial(passing, 1, 1_024)),
    HotPath("the same by copies", ATTENTION, partial(passing, 1, 1_024, True)),
    HotPath("a text of EditDistance8,8", CACHE, partial(writing, 1)),
    HotPath("64 texts of EditDistance8,8", CACHE, partial(writing, BATCH)),
    HotPath(
        "all words of C3 up to 10 letters", "512 of them by plain torch", every_word
    ),
    HotPath("enumerate T_5", "a closure of tuples in Python", enumerating),
    HotPath("holonomy of T_6", "a closure of T_5 in Python", partial(lifting, 6)),
    HotPath(
        "beliefs of Mess3 along a word", "numpy", partial(believing, "Mess3", 0.01, 1)
    ),
    HotPath(
        "beliefs of RanHMM4,3@0 along 64 words",
        "numpy",
        partial(believing, "RanHMM4,3@0", 0.01, BATCH),
    ),
)


# Which have become slower.


def slower(found: float, committed: float) -> bool:
    """Whether a ratio has grown by more than a third."""
    return found > SLOWER * committed


def committed_ratios() -> dict[str, float]:
    """By the name of a path."""
    return {row["path"]: float(row["ratio"]) for row in read(COMMITTED)}


def measured(paths: Iterable[HotPath], committed: Mapping[str, float]) -> Iterator[Row]:
    """A row for each path that can be run here; those that seem slower are run again."""
    for path in paths:
        sides, before = path.make(), committed.get(path.name)
        if sides is None:
            continue
        found = ratio(sides)
        for _ in range(RETRIES):
            if before is not None and slower(found, before):
                found = min(found, ratio(sides))
        yield {"path": path.name, "beside": path.beside, "ratio": found}


def complaints(rows: Iterable[Row], committed: Mapping[str, float]) -> list[str]:
    """A line for each path that has become slower, or of which no ratio is known."""
    lines = []
    for row in rows:
        name, found = row["path"], row["ratio"]
        before = committed.get(name)
        if before is None:
            lines.append(f"{name}: no ratio is committed")
        elif slower(found, before):
            lines.append(
                f"{name}: {found:.3g} times {row['beside']}, {before:.3g} when it was "
                f"committed: {found / before:.2f} times as slow"
            )
    return lines


def main() -> None:
    """Measure, and complain of what has become slower."""
    found = parser(__doc__)
    found.add_argument("paths", nargs="*", help="parts of names; all paths by default")
    options = found.parse_args()
    chosen = [
        path
        for path in PATHS
        if not options.paths or any(part in path.name for part in options.paths)
    ]
    torch.set_num_threads(1)
    keep_memory()
    committed = {} if options.csv is not None else committed_ratios()
    with one_thread():
        rows = list(measured(chosen, committed))
    publish([Table(TITLE, rows)], options)
    if options.csv is None and (lines := complaints(rows, committed)):
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
