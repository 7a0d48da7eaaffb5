"""Circuit discovery on networks with known circuits (docs/instruments/workbench.md).

python benchmarks/circuit_discovery.py --only parity,lcs
python benchmarks/circuit_discovery.py --truth
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from torch import Tensor

from krohn.architectures.exports import (
    circuit as circuits,
    export_transformer_lens as transformer_lens,
)
from krohn.instruments.workbench.answers import sample_inputs
from krohn.instruments.workbench.edge_patching import measure_change
from krohn.instruments.workbench.making import of_entry
from krohn.instruments.workbench.models import (
    MODELS,
    PLAIN,
    Entry,
)
from krohn.instruments.workbench.workbench import (
    edge_attributions,
    edge_effects,
    score_edges,
)
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model
from krohn.program.domains import IntArray

TITLE = "edges found, beside the circuit that was compiled"
WORDS, MORE = 200, 2_000
LATER = {"beliefs", "counting programs"}
"""Families of which the table of methods says nothing."""
TRUTH = "edges that act, and edges of the circuit"
JUDGED = (
    "parity d6 q8 flip-flop-language corridor4 dyck2-2 adder contains-abb a-then-b lcs "
    "majority balanced abc-counted alternating even-process two-noisy-states "
    "three-noisy-states four-noisy-states slow-states "
    "parity-disguised s3-disguised flip-flop-disguised corridor4-disguised "
    "contains-abb-disguised third-last-disguised parity-trained flip-flop-trained"
)


def network(entry: Entry) -> Row:
    """How both methods do on one network, on words that differ from network to network."""
    rng = np.random.default_rng(0)
    file = of_entry(entry, rng).file
    words, others = pairs(file, WORDS, rng)
    told = circuits.circuit(file)
    effects, slopes = (
        method(file, words, others) for method in (edge_effects, edge_attributions)
    )
    patched, estimated = score_edges(told, effects), score_edges(told, slopes)
    right = round(patched.precision * patched.found)
    return {
        "network": entry.name,
        "blocks": len(told["blocks"]),
        "edges": patched.true,
        "possible": patched.possible,
        "patching: false": patched.found - right,
        "patching: missed": patched.true - right,
        "patching: AUC": patched.auc,
        "attribution: AUC": estimated.auc,
    }


def pairs(
    file: ModelFile, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Words, and the same in another order."""
    words, start = sample_inputs(Model(file), count, rng)
    words = words if start is None else words[:, :-1]
    return words, words[rng.permutation(len(words))]


def lens_effects(
    file: ModelFile, words: IntArray, others: IntArray
) -> dict[tuple[str, str], float]:
    """What `edge_effects` says, by hooks of TransformerLens alone.

    A hook adds, to what a component reads, the difference of what an earlier one writes on
    both words. Heads of a block read the same stream, so that of one head the difference
    goes through its matrices, into queries, keys and values.
    """
    with TemporaryDirectory() as place:
        transformer_lens.write(file, Path(place))
        bridge = transformer_lens.bridge(Path(place))
    clean, other = (
        torch.nn.functional.pad(torch.from_numpy(np.ascontiguousarray(each)), (1, 0))
        for each in (words, others)
    )
    clean[:, 0] = other[:, 0] = bridge.cfg.d_vocab - 1
    state, told, found = bridge.state_dict(), circuits.circuit(file), {}
    with torch.inference_mode():
        before, seen = bridge.run_with_cache(clean)
        _, patched = bridge.run_with_cache(other)
        for u, v in circuits.possible(told):
            moved = _written(u, patched, state) - _written(u, seen, state)
            hooks = list(_hooks(v, moved, state))
            after = bridge.run_with_hooks(clean, fwd_hooks=hooks)
            found[u, v] = measure_change(file, before[:, 1:], after[:, 1:])
    return found


def _written(node: str, cache: Any, state: Mapping[str, Tensor]) -> Tensor:
    if node == circuits.EMBEDDING:
        return cache["hook_embed"] + cache["hook_pos_embed"]  # type: ignore[no-any-return]
    at, part, *head = node.rsplit(".", 2 if ".attn." in node else 1)
    if part == "mlp":
        return cache[f"{at}.hook_mlp_out"]  # type: ignore[no-any-return]
    taken = cache[f"{at}.attn.hook_z"][:, :, int(head[0])]
    out = state[f"{at}.attn.o.weight"].T.unflatten(0, (-1, taken.shape[-1]))
    return taken @ out[int(head[0])]  # type: ignore[no-any-return]


def _hooks(
    node: str, moved: Tensor, state: Mapping[str, Tensor]
) -> Iterator[tuple[str, Callable[..., Tensor]]]:
    if node == circuits.READ_OUT:
        yield "unembed.hook_in", lambda x, hook: x + moved
        return
    at, part, *head = node.rsplit(".", 2 if ".attn." in node else 1)
    if part == "mlp":
        yield f"{at}.mlp.hook_in", lambda x, hook: x + moved
        return
    for letter in "qkv":
        weight = state[f"{at}.attn.{letter}.weight"]

        def add(x: Tensor, hook: object, weight: Tensor = weight) -> Tensor:
            index = int(head[0])
            changed = x.clone()
            changed[:, :, index] += moved @ weight.unflatten(0, x.shape[2:])[index].T
            return changed

        yield f"{at}.attn.hook_{letter}", add


def truth(entry: Entry) -> Row:
    """Whether the edges of a circuit are those that change an answer if patched.

    Where one changes none, it is patched again, at one position of more words.
    """
    rng = np.random.default_rng(0)
    file = of_entry(entry, rng).file
    words, others = pairs(file, WORDS, rng)
    effects, lens = (
        method(file, words, others) for method in (edge_effects, lens_effects)
    )
    told = circuits.circuit(file)
    true = {(edge["from"], edge["to"]) for edge in told["edges"]}
    idle = [edge for edge in effects if edge in true and not effects[edge]]
    words, others = pairs(file, MORE, rng)
    at = rng.integers(words.shape[1] + 1, size=len(words))
    again = edge_effects(file, words, others, edges=idle, at=at)
    false = [share for edge, share in effects.items() if edge not in true]
    return {
        "network": entry.name,
        "edges": len(true),
        "change no answer": len(idle),
        "nor at one position": sum(not share for share in again.values()),
        "edges that are lacking": len(false),
        "change an answer": sum(share > 0 for share in false),
        "of all answers at most": max(false, default=0.0),
        "otherwise in TransformerLens": sum(
            (lens[edge] > 0) is not (share > 0) for edge, share in effects.items()
        ),
    }


def main() -> None:
    """Score both methods on the networks that are asked for, and print the table."""
    asked = parser(__doc__)
    asked.add_argument("--only", metavar="A,B,…", help="These networks.")
    asked.add_argument("--truth", action="store_true", help="Patch edges, no methods.")
    asked.add_argument("--jobs", type=int, default=1, help="Processes.")
    given = asked.parse_args()
    known = [e.name for e in PLAIN if e.family not in LATER]
    usual = JUDGED.split() if given.truth else known
    only = given.only.split(",") if given.only else usual
    chosen = [entry for entry in MODELS if entry.name in only]
    if given.truth:
        rows = list(each(truth, chosen, given.jobs))
        note = f"{WORDS} words for each network; {MORE:,} at one position."
        publish([Table(TRUTH, rows, note)], given)
        return
    rows = list(each(network, chosen, given.jobs))
    publish([Table(TITLE, rows, _summary(rows))], given)


def _summary(rows: list[Row]) -> str:
    said = []
    for name in ("patching", "attribution"):
        found = [row[f"{name}: AUC"] for row in rows if row[f"{name}: AUC"] is not None]
        ends = np.quantile(found, [0, 0.5, 1])
        said.append(f"{name}: AUC {ends[1]:.2f} in the median, {ends[0]:.2f} at least")
    false = sum(row["patching: false"] for row in rows)
    missed, edges = (sum(row[c] for row in rows) for c in ("patching: missed", "edges"))
    said.append(f"patching: {false} false and {missed} missed of {edges:,} edges")
    return f"{WORDS} words for each network; " + "; ".join(said) + "."


if __name__ == "__main__":
    main()
