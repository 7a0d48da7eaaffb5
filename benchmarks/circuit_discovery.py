"""Circuit discovery on networks with known circuits (docs/workbench.md).

python benchmarks/circuit_discovery.py --only parity,lcs
"""

import numpy as np
from report import Row, Table, each, parser, publish

from krohn.network.exports import circuit as circuits
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model
from krohn.program.domains import IntArray
from krohn.workbench import edge_attributions, edge_effects, score_edges
from krohn.workbench.answers import drawn
from krohn.workbench.making import of_entry
from krohn.workbench.models import MODELS, Entry

TITLE = "edges found, beside the circuit that was compiled"
WORDS, MORE = 200, 2_000


def network(entry: Entry) -> Row:
    """How both methods do on one network, on words that differ from network to network."""
    rng = np.random.default_rng(0)
    file = of_entry(entry, rng).file
    words, others = _pairs(file, WORDS, rng)
    told = circuits.circuit(file)
    effects, slopes = (
        method(file, words, others) for method in (edge_effects, edge_attributions)
    )
    patched, estimated = score_edges(told, effects), score_edges(told, slopes)
    right = round(patched.precision * patched.found)
    true = [(edge["from"], edge["to"]) for edge in told["edges"]]
    missed = [edge for edge in dict.fromkeys(true) if not effects[edge]]
    idle = missed
    if missed:
        words, others = _pairs(file, MORE, rng)
        at = rng.integers(words.shape[1] + 1, size=len(words))
        again = edge_effects(file, words, others, edges=missed, at=at)
        idle = [edge for edge, share in again.items() if not share]
    return {
        "network": entry.name,
        "blocks": len(told["blocks"]),
        "edges": patched.true,
        "possible": patched.possible,
        "patching: false": patched.found - right,
        "patching: missed": len(missed),
        "at one position too": len(idle),
        "patching: AUC": patched.auc,
        "attribution: AUC": estimated.auc,
    }


def _pairs(
    file: ModelFile, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Words, and others in another order."""
    words, start = drawn(Model(file), count, rng)
    words = words if start is None else words[:, :-1]
    return words, words[rng.permutation(len(words))]


def main() -> None:
    """Score both methods on the networks that are asked for, and print the table."""
    asked = parser(__doc__)
    asked.add_argument("--only", metavar="A,B,…", help="Some networks; all by default.")
    asked.add_argument("--jobs", type=int, default=1, help="Processes.")
    given = asked.parse_args()
    only = given.only.split(",") if given.only else [entry.name for entry in MODELS]
    rows = list(each(network, [e for e in MODELS if e.name in only], given.jobs))
    publish([Table(TITLE, rows, _summary(rows))], given)


def _summary(rows: list[Row]) -> str:
    said = []
    for name in ("patching", "attribution"):
        found = [row[f"{name}: AUC"] for row in rows if row[f"{name}: AUC"] is not None]
        ends = np.quantile(found, [0, 0.5, 1])
        said.append(f"{name}: AUC {ends[1]:.2f} in the median, {ends[0]:.2f} at least")
    false = sum(row["patching: false"] for row in rows)
    missed, idle, edges = (
        sum(row[c] for row in rows)
        for c in ("patching: missed", "at one position too", "edges")
    )
    whole = sum(not row["patching: false"] + row["at one position too"] for row in rows)
    said.append(
        f"patching: {false} false and {missed} missed of {edges:,} edges, {idle} of these "
        f"at one position of {MORE:,} words too; {whole} of {len(rows)} circuits are the "
        "edges that act"
    )
    return f"{WORDS} words for each network; " + "; ".join(said) + "."


if __name__ == "__main__":
    main()
