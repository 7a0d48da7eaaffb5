"""Which variables of the derived networks does a trained network hold, and use?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from krohn.instruments.compare.models.compiled import CompiledTransformer
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.exchange import (
    Positions,
    ProbedNetwork,
    hidden_states,
    probed_network,
)
from krohn.instruments.compare.probes.interchange import (
    Aligned,
    Interchange,
    best_subspace,
    interchange,
)
from krohn.instruments.compare.probes.probe_map import (
    READ,
    Cell,
    ProbeMap,
    Row,
    Verdict,
    conclusion,
    gain,
    is_free,
    is_readable,
    quality,
    sentences,
    use,
)
from krohn.instruments.compare.probes.scores import (
    Score,
    score,
    split,
)
from krohn.instruments.compare.probes.variables import (
    Variables,
    depends_only_on,
    variables,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.objective import Scratchpad
from krohn.instruments.compare.training.provenance import (
    Purpose,
    stream,
)
from krohn.network.precision import FloatArray


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
    exchanges: int = 10
    positions: Positions = "all"
    seed: int = 0


def survey(
    network: Network,
    task: Task,
    untrained: Network | None = None,
    how: Survey | None = None,
) -> ProbeMap:
    """Find the variables that a network holds, and the ones that it uses.

    Networks that say next letters, or read their own answers, are probed only.

    Args:
        network: It says classes of the task.
        task: The task of its training.
        untrained: The same network before training: the same architecture and seed.
        how: How many words, and so on; None for the usual.
    """
    how = how or Survey()
    rng = stream(how.seed, 0, Purpose.PROBES)
    words = task.inputs.draw(task.machine, rng, how.words, how.length)
    parts = split(how.words, rng)
    bench = probed_network(network, task, words, parts, how.positions)
    all_variables = variables(task, words)
    trained = _scores(bench.states, all_variables, bench, how.seed)
    before = None
    if untrained is not None:
        before = _scores(
            hidden_states(untrained, words)[0], all_variables, bench, how.seed
        )
    rows = [
        _row(i, all_variables, trained, before) for i in range(len(all_variables.found))
    ]
    rows = _early(rows)
    if task.predicts == "class" and not isinstance(network, Scratchpad):
        rows = _test_candidates(rows, all_variables, bench, how)
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
        all_variables.of_letter,
        all_variables.left_out,
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
    states: Sequence[FloatArray], found: Variables, bench: ProbedNetwork, seed: int
) -> list[list[Score]]:
    return [score(s, found.found, bench.words, bench.parts, seed) for s in states]


def _row(
    i: int,
    found: Variables,
    trained: list[list[Score]],
    before: list[list[Score]] | None,
) -> Row:
    """A variable with nothing but its probes; the gain of training is judged by layer."""
    embedding, untrained = trained[0][i], [scores[i] for scores in before or []]
    references = [embedding, *untrained]
    cells = [Cell(embedding, untrained[0] if before else None, 0.0, readable=False)]
    for layer, scores in enumerate(trained[1:], start=1):
        score, fresh = scores[i], untrained[layer] if before else None
        readable = is_readable(score, references)
        cells.append(Cell(score, fresh, gain(score, references), readable))
    verdict: Verdict = "free" if is_free(references) else "not readable"
    if any(cell.readable for cell in cells):
        verdict = "readable"
    v, answer = found.found[i], found.answer
    of_answer = answer is not None and depends_only_on(v, answer.classes)
    homes = tuple(dict.fromkeys(h.construction for h in v.homes))
    return Row(v.names, v.kind, v.values, of_answer, homes, tuple(cells), (), verdict)


def _early(rows: list[Row]) -> list[Row]:
    """Functions of the answer that are there before it are intermediate results."""
    answer = next((row for row in rows if row.kind == "answer"), None)
    if answer is None:
        return rows
    # Where the answer is nowhere, whatever is there comes before it.
    there = [quality(cell.trained) >= READ for cell in answer.cells]
    answered = [*there, True].index(True)
    return [
        replace(row, of_answer=row.of_answer and not _before(row, answered))
        for row in rows
    ]


def _before(row: Row, layer: int) -> bool:
    return min(row.readable, default=layer) < layer


def _test_candidates(
    rows: list[Row], found: Variables, bench: ProbedNetwork, how: Survey
) -> list[Row]:
    """The rows with causal tests of the best candidates."""
    results: dict[int, list[Interchange]] = {}
    rivals: dict[int, Aligned | None] = {}
    answer = found.answer
    for i, layer in _candidates(rows, found)[: how.exchanges]:
        v = found.found[i]
        if answer is not None and layer not in rivals:
            rivals[layer] = best_subspace(bench, answer, layer, how.seed)
        rival = None if v is answer else rivals.get(layer)
        result = interchange(bench, v, layer, how.seed, rival)
        results.setdefault(i, []).extend([result] if result else [])
    return [
        replace(
            row,
            exchanged=tuple(results[i]),
            verdict=_strongest(results[i], row.verdict),
        )
        if i in results
        else row
        for i, row in enumerate(rows)
    ]


def _candidates(rows: list[Row], found: Variables) -> list[tuple[int, int]]:
    """The variables to exchange and their layers, most telling first.

    Intermediate results before ways to write the answer; then by
    the gain over free reading: a network may use what it could read before training. Each
    where it can be read first; after all of these, where it is read best, if that is
    elsewhere.
    """
    able = [
        i
        for i, (row, v) in enumerate(zip(rows, found.found, strict=True))
        if row.holding_layers and v.homes and v.told_apart
    ]
    able.sort(key=lambda i: (rows[i].of_answer, -_best_gain(rows[i])))
    first = [(i, (rows[i].readable or rows[i].holding_layers)[0]) for i in able]
    best = [(i, _best_layer(rows[i])) for i in able]
    return [*first, *(at for at in best if at not in first)]


def _best_gain(row: Row) -> float:
    return max(row.cells[layer].gain for layer in row.holding_layers)


def _best_layer(row: Row) -> int:
    return max(row.holding_layers, key=lambda layer: row.cells[layer].gain)


def _strongest(tested: Sequence[Interchange], before: Verdict) -> Verdict:
    """The most that an exchange shows; if none shows a use, the verdict before."""
    shown = {use(t) for t in tested}
    order: tuple[Verdict, ...] = ("used", "partly used")
    return next((v for v in order if v in shown), before)
