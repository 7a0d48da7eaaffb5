"""Attacks on the proof of a Transformer."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from os import cpu_count

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from krohn.instruments.attack import scores as looks
from krohn.instruments.attack.residual_stream import (
    Stored,
    Values,
    values,
)
from krohn.instruments.attack.rounding import (
    Arithmetic,
    Push,
    Run,
    Seen,
    Way,
    make_permuted_run,
    network,
    one_by_one,
    still,
    tensors,
    whole,
    with_equal_widths,
    within,
)
from krohn.instruments.attack.scores import Answers
from krohn.instruments.attack.worst_seen import (
    Batch,
    EvolutionarySearch,
    Record,
    Target,
)
from krohn.network import ModelFileError
from krohn.network.forward_pass import threads
from krohn.network.meaning.net import Net
from krohn.verify.checker.established import Established

ORDERS = 3
SMALL = (1, 2, 7)
"""Sizes of small batches."""
LOOKED = 32
LOOK_EVERY = 4
SHORT = 64
CELLS = 2_000_000
"""How many numbers of the stream one batch may hold at a snapshot."""
POSITIONS = 2**16
"""How many positions of words it may have."""
WORST = 256
"""How many words at once the worst arithmetic takes: it adds up term by term."""

BACKENDS = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}


def _at_once(target: Target) -> int:
    """How many words a batch has."""
    width = int(target.file.tensors["embed.token"].shape[1])
    return max(64, min(POSITIONS, CELLS // width) // (target.length + 1))


def ways(target: Target) -> list[Way]:
    """Every way to run a network here, with how much goes by each."""
    file, most, rng = target.file, _at_once(target), target.rng
    runtime, arrays = network(file), Net.of(file.architecture, file.tensors)
    net, some = runtime.net, min(most, WORST)

    def worst(words: Tensor, push: Push) -> Seen:
        return Arithmetic(file.precision, rng, push).run(net, words)

    def add(name: str, run: Run, most: int, share: float, **how: bool) -> None:
        ways_to_run.append(Way(name, run, most, share, **how))

    ways_to_run = list[Way]()
    add("eager", partial(whole, net), most, 40)
    for n in SMALL:
        add(f"batches of {n}", partial(whole, net), n, n / 5)
    add("batches of 64", partial(whole, net), 64, 4)
    add("letter by letter", partial(one_by_one, runtime), most, 2)
    add("pushed", partial(whole, net), most, 10, pushes=True)
    add("worst arithmetic", worst, some, 0.5)
    add("pushed, worst arithmetic", worst, some, 0.5, pushes=True)
    for i in range(ORDERS):
        add(f"order {i + 1}", make_permuted_run(arrays, file.precision, rng), most, 8)
    if (cpu_count() or 1) > 1:
        add("2 threads", partial(within, partial(threads, 2), net), most, 0.2)
    if target.compiled:
        ways_to_run.append(_compiled_way(partial(whole, net), most))
    even = tensors(with_equal_widths(arrays), file.precision)
    for name, backend in BACKENDS.items():
        run = partial(within, partial(sdpa_kernel, backend), even)
        add(f"attention: {name}", run, most, 4)
    return ways_to_run


def _compiled_way(run: Callable[[Tensor], Seen], most: int) -> Way:
    compiled = torch.compile(run, dynamic=False)

    def through(words: Tensor, _: Push) -> Seen:
        seen: Seen = compiled(words)
        return seen

    return Way("compiled", through, most, 10, fixed=True)


def obstacle(way: Way, target: Target) -> str:
    """Why a way cannot be gone here; empty if it can."""
    words = torch.zeros((way.most if way.fixed else 1, target.length), dtype=torch.long)
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        try:
            way(words, still)
        except (RuntimeError, OSError, ModelFileError) as error:
            return str(error).splitlines()[0]
    return ""


@dataclass(frozen=True)
class Judges:
    """Everything that a run is held against.

    Attributes:
        target: The network.
        bounds: What its proof established.
        stored: Bounds of the residual stream.
        answers: Bounds of the logits.
        heads: Bounds of where heads look.
    """

    target: Target
    bounds: Established
    stored: Stored
    answers: Answers
    heads: tuple[looks.Head, ...]

    @staticmethod
    def of(target: Target) -> "Judges":
        """Lay out all bounds."""
        file, bounds = target.file, target.proof.bounds
        assert bounds is not None
        positions, dtype = file.tensors["embed.position"], file.precision.name
        return Judges(
            target,
            bounds,
            Stored.of(bounds, positions, dtype),
            Answers.of(bounds),
            tuple(looks.heads(network(file).net, bounds)),
        )

    def run(
        self, batch: Batch, way: Way, rng: np.random.Generator, look: bool
    ) -> Tensor:
        """Run words, and hold all numbers against their bounds.

        Returns:
            ``(batch, targets)``: the greatest share of its bound that each word reaches.
        """
        true = values(self.bounds.program, batch.words)
        expected = self.stored.expected_codes(true)
        given: list[Tensor] = []

        narrow = getattr(torch, self.target.file.precision.name)

        def push(snapshot: int, x: Tensor) -> Tensor:
            given.append(self.stored.push(expected, rng, narrow, snapshot, x))
            return given[-1]

        seen, logits = way(batch.words, push if way.pushes else still)
        read = [seen[0], *given] if way.pushes else seen
        share = self.stored.judge(batch, seen, read, expected)
        classes = self.target.classes(batch.words)
        answer_share = self.answers.judge(batch, logits, true, classes)
        if look:
            self._look(batch, seen, true, expected[0])
        return torch.cat([share.double(), answer_share], dim=1)

    def replay(self, record: Record, way: Way, rng: np.random.Generator) -> None:
        """Run the words of new violations by themselves."""
        for at, violation in enumerate(record.violations):
            if violation.again is None and not way.fixed:
                word = torch.tensor([violation.word], dtype=torch.int64)
                alone = Batch(word, way.name, Record())
                if word.numel():
                    self.run(alone, way, rng, look=True)
                again = any(v.key == violation.key for v in alone.record.violations)
                record.violations[at] = replace(violation, again=again)

    def _look(
        self, batch: Batch, seen: list[Tensor], true: Values, right: Tensor
    ) -> None:
        """Scores are held against their bounds for the first words only."""
        some = slice(LOOKED)
        part = Batch(batch.words[some], batch.way, batch.record)
        first = [x[some] for x in seen]
        there = {name: column[some] for name, column in true.items()}
        looks.judge(part, self.heads, first, there, self.stored, right[some])


def rounds(target: Target, record: Record) -> Iterator[None]:
    """Run batch after batch, without end, by the way that lags most behind its share."""
    ways_to_run, judges, rng = ways(target), Judges.of(target), target.rng
    obstacles = {way.name: obstacle(way, target) for way in ways_to_run}
    record.left_out |= {name: why for name, why in obstacles.items() if why}
    ways_to_run = [way for way in ways_to_run if not obstacles[way.name]]
    breeding = EvolutionarySearch(target.machine, target.length, rng)
    run = np.zeros(len(ways_to_run))
    shares = np.array([way.share for way in ways_to_run])
    for turn in count():
        chosen = int((run / shares).argmin())
        way = ways_to_run[chosen]
        # At first every way is tried on a few words.
        most = _at_once(target) if run[chosen] else SHORT
        words = breeding.words(way.size(most))
        # Kernels take other paths for other lengths.
        cut = target.length if way.fixed else _draw_length(rng, target.length)
        batch = Batch(words[:, :cut], way.name, record)
        with torch.inference_mode():
            share = judges.run(batch, way, rng, turn % LOOK_EVERY == 0)
            judges.replay(record, way, rng)
        breeding.learn(words, share)
        run[chosen] += batch.words.numel()
        record.ways[way.name] += batch.words.numel()
        yield


def _draw_length(rng: np.random.Generator, length: int) -> int:
    return length if rng.random() < 0.75 else int(rng.integers(1, length + 1))
