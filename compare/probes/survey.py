"""Which variables of the derived networks does a trained network hold, and use?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from compare.models.compiled import CompiledTransformer
from compare.models.network import Network
from compare.probes.hidden import hidden
from compare.probes.interchange import Bench, Interchange, bench_of, interchange
from compare.probes.map import Cell, ProbeMap, Row
from compare.probes.pairs import Positions
from compare.probes.scores import Score, score, split
from compare.probes.sentences import conclusion, sentences
from compare.probes.variable import depends_only_on
from compare.probes.variables import Variables, variables
from compare.probes.verdict import Verdict, is_free, is_readable, quality, use
from compare.tasks.task import Task
from network.precision import FloatArray


@dataclass(frozen=True)
class Survey:
    """How a network is looked into.

    Attributes:
        words: How many; half fit probes, a sixth chooses, a third tests.
        length: Letters in each.
        exchanges: At most so many causal tests.
        positions: Where variables are exchanged.
        seed: Of words, positions, pairs and random subspaces.
    """

    words: int = 480
    length: int = 32
    exchanges: int = 8
    positions: Positions = "all"
    seed: int = 0


def survey(
    network: Network,
    task: Task,
    untrained: Network | None = None,
    how: Survey | None = None,
) -> ProbeMap:
    """Look into a network: what it holds, and what it uses.

    Args:
        network: It says classes of the task.
        task: What it was trained on.
        untrained: The same network before training: the same architecture and seed.
        how: How many words, and so on; None for the usual.
    """
    how = how or Survey()
    rng = np.random.default_rng(how.seed)
    words = task.inputs.draw(task.machine, rng, how.words, how.length)
    parts = split(how.words, rng)
    bench = bench_of(network, task, words, parts, how.positions)
    found = variables(task, words)
    trained = _scores(bench.states, found, bench, how.seed)
    before = None
    if untrained is not None:
        before = _scores(hidden(untrained, words)[0], found, bench, how.seed)
    rows = [_row(i, found, trained, before) for i in range(len(found.found))]
    rows = _early(rows)
    if task.predicts == "class":
        rows = _tested(rows, found, bench, how)
    test = parts.test
    right = (bench.said == bench.labels.labels)[test][bench.labels.asked[test]]
    plain = ProbeMap(
        task.name,
        how.words,
        how.length,
        how.seed,
        float(right.mean()) if right.size else 0.0,
        _layer_names(network, len(bench.states)),
        tuple(rows),
        found.of_letter,
        found.left_out,
        "",
        (),
    )
    return replace(plain, conclusion=conclusion(plain), said=sentences(plain))


def _layer_names(network: Network, count: int) -> tuple[str, ...]:
    """The embedding and layers; of a compiled Transformer, sublayers."""
    if isinstance(network, CompiledTransformer):
        sublayers = product(range(count // 2), ("heads of block", "MLP of block"))
        return ("embedding", *(f"{part} {block}" for block, part in sublayers))
    return ("embedding", *(f"layer {i}" for i in range(1, count)))


def _scores(
    states: Sequence[FloatArray], found: Variables, bench: Bench, seed: int
) -> list[list[Score]]:
    return [score(s, found.found, bench.words, bench.parts, seed) for s in states]


def _row(
    i: int,
    found: Variables,
    trained: list[list[Score]],
    before: list[list[Score]] | None,
) -> Row:
    """A variable with nothing but its probes; what training adds is judged by layer."""
    embedding, untrained = trained[0][i], [scores[i] for scores in before or []]
    references = [embedding, *untrained]
    cells = [Cell(embedding, untrained[0] if before else None, readable=False)]
    for layer, scores in enumerate(trained[1:], start=1):
        fresh = untrained[layer] if before else None
        cells.append(Cell(scores[i], fresh, is_readable(scores[i], references)))
    verdict: Verdict = "free" if is_free(references) else "not readable"
    if any(cell.readable for cell in cells):
        verdict = "readable"
    v, answer = found.found[i], found.found[0]
    of_answer = answer.kind == "answer" and depends_only_on(v, answer.classes)
    homes = tuple(dict.fromkeys(h.construction for h in v.homes))
    return Row(v.names, v.kind, v.values, of_answer, homes, tuple(cells), (), verdict)


def _early(rows: list[Row]) -> list[Row]:
    """Functions of the answer that are there before it are intermediate results."""
    found = next((row.readable for row in rows if row.kind == "answer"), ())
    answered = min(found, default=0)
    return [
        replace(row, of_answer=row.of_answer and not _before(row, answered))
        for row in rows
    ]


def _before(row: Row, layer: int) -> bool:
    return min(row.readable, default=layer) < layer


def _tested(rows: list[Row], found: Variables, bench: Bench, how: Survey) -> list[Row]:
    """The rows with causal tests of the best candidates."""
    left = how.exchanges
    tested = list(rows)
    for i in sorted(range(len(rows)), key=lambda i: _rank(rows[i])):
        v, row = found.found[i], rows[i]
        if row.verdict != "readable" or not v.homes or not v.told_apart:
            continue
        layers = _layers(row)[:left]
        results = [interchange(bench, v, layer, how.seed) for layer in layers]
        known = tuple(r for r in results if r is not None)
        left -= len(layers)
        tested[i] = replace(row, exchanged=known, verdict=_strongest(known))
    return tested


def _rank(row: Row) -> tuple[bool, float]:
    """Intermediate results before the answer, what is read best first."""
    best = max(quality(cell.trained) for cell in row.cells)
    return row.of_answer, -round(best, 2)


def _layers(row: Row) -> list[int]:
    """The first layer where it can be read, and the one where it is read best."""
    first = row.readable[0]
    best = max(row.readable, key=lambda i: quality(row.cells[i].trained))
    return [first] if best == first else [first, best]


def _strongest(tested: tuple[Interchange, ...]) -> Verdict:
    order: tuple[Verdict, ...] = ("used", "partly used", "readable")
    shown = {use(t) for t in tested}
    return next((v for v in order if v in shown), "readable")
