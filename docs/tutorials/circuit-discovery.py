# %% [markdown]
# # Circuit discovery against the truth
#
# A method that finds circuits is hard to judge on a trained network, since nobody knows the
# circuit. Here you write two methods of your own, run them on a network whose circuit was
# compiled, and let `krohn score` judge them.
#
# ## A network with its circuit
#
# `krohn workbench` makes networks with known circuits, each proved. Take one of them.

# %%
import csv
import json
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from safetensors.torch import load_file


def shell(command: str) -> None:
    """Run a command, and show what it prints."""
    done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    print(done.stdout)


shell("krohn workbench set --only flip-flop-language --words 40")

# %% [markdown]
# The network accepts the flip-flop language of Liu et al. (2023): after each *read*, the
# value that was written last must follow. Words are in `words.jsonl`, tensors in
# `model.safetensors`, the circuit in `circuit.json`.
#
# ## The network as components
#
# **From here to the scores no cell uses Krohn**: tensors are read by safetensors, and the
# network is run by a few lines of torch. A *component* is the embedding, a head, an MLP or
# the read-out. The residual stream is the sum of what components write, so each reads the
# sum of all earlier ones.

# %%
home = Path("set/flip-flop-language")
tensors = {n: t.double() for n, t in load_file(home / "model.safetensors").items()}
circuit = json.loads((home / "circuit.json").read_text("utf-8"))
letters = circuit["letters"]
rows = [
    json.loads(line) for line in (home / "words.jsonl").read_text("utf-8").splitlines()
]
words = torch.tensor([[letters.index(a) for a in row["word"]] for row in rows])
words = torch.nn.functional.pad(words, (1, 0), value=len(letters))  # BOS in front

components = ["embedding"]
for block in circuit["blocks"]:
    components += [f"blocks.{block['layer']}.attn.{h}" for h in range(block["heads"])]
    components += [f"blocks.{block['layer']}.mlp"] if block["mlp"] else []
components.append("read-out")
print(components)


def write(component: str, read: torch.Tensor) -> torch.Tensor:
    """What a component makes of what it reads, (words, positions, dimensions)."""
    if component == "read-out":
        return read @ tensors["unembed.weight"] + tensors["unembed.bias"]
    _, layer, kind, *head = component.split(".")
    at = f"blocks.{layer}"
    if kind == "mlp":
        hidden = read @ tensors[f"{at}.mlp.0.weight"] + tensors[f"{at}.mlp.0.bias"]
        return (
            hidden.relu() @ tensors[f"{at}.mlp.1.weight"] + tensors[f"{at}.mlp.1.bias"]
        )
    q, k, v, o = (
        tensors[f"{at}.attention.{m}"][int(head[0])]
        for m in ("query", "key", "value", "out")
    )
    scores = (read @ q) @ (read @ k).mT
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ (read @ v) @ o


def precedes(u: str, v: str) -> bool:
    """Whether v can read what u writes: heads of one block do not read each other."""
    apart = components.index(u) < components.index(v)
    return apart and not (".attn." in v and u.startswith(v.rpartition(".")[0]))


def run(
    words: torch.Tensor, edge: tuple[str, str] = ("", ""), change: object = 0
) -> dict:
    """What each component writes; on one edge, something is added to what is read."""
    written = {
        "embedding": tensors["embed.token"][words]
        + tensors["embed.position"][: words.shape[1]]
    }
    for v in components[1:]:
        read = sum(written[u] for u in components if precedes(u, v))
        written[v] = write(v, read + change if v == edge[1] else read)
    return written


clean = run(words)
said = clean["read-out"].argmax(-1)
answers = [answer for row in rows for answer in row["answers"]]
seen = set(zip(said[:, 1:].flatten().tolist(), answers, strict=True))
print(len(seen), "pairs of a logit and an answer, for", len(set(answers)), "answers")
assert len(seen) == len(set(answers))

# %% [markdown]
# Each logit goes with one right answer, on all words: these lines compute what the network
# computes. Now the methods.
#
# **Patching an edge**: the later component reads, instead of what the earlier one writes on
# a word, what that one writes on another word. The score of an edge is the share of answers
# that change (Conmy et al. 2023).
#
# **Composition of weights** needs no word: for an edge, the norm of the matrix that leads
# from what one component can write to what the other reads, divided by the norms of both
# (Elhage et al. 2021).

# %%
edges = [(u, v) for v in components for u in components if precedes(u, v)]
other = run(words.flip(0))
patching = {
    (u, v): float(
        (run(words, (u, v), other[u] - clean[u])["read-out"].argmax(-1) != said)
        .double()
        .mean()
    )
    for u, v in edges
}


def output(u: str) -> torch.Tensor:
    """The directions that a component writes, as rows."""
    if u == "embedding":
        return tensors["embed.token"]
    at, kind = u.split(".")[1], u.split(".")[2]
    if kind == "mlp":
        return tensors[f"blocks.{at}.mlp.1.weight"]
    return tensors[f"blocks.{at}.attention.out"][int(u.rpartition(".")[2])]


def reader(v: str) -> torch.Tensor:
    """The directions that a component reads, as columns."""
    if v == "read-out":
        return tensors["unembed.weight"]
    at, kind = v.split(".")[1], v.split(".")[2]
    if kind == "mlp":
        return tensors[f"blocks.{at}.mlp.0.weight"]
    head = int(v.rpartition(".")[2])
    each = (
        tensors[f"blocks.{at}.attention.{m}"][head] for m in ("query", "key", "value")
    )
    return torch.cat([m / (m.norm() + 1e-300) for m in each], dim=1)


composition = {
    (u, v): float((output(u) @ reader(v)).norm() / output(u).norm() / reader(v).norm())
    for u, v in edges
}

# %%
for name, found in (("patching", patching), ("composition", composition)):
    with open(f"{name}.csv", "w", newline="") as table:
        out = csv.writer(table)
        out.writerow(["from", "to", "score"])
        out.writerows([u, v, score] for (u, v), score in found.items())

# %% [markdown]
# ## The scores
#
# `krohn score` compares a table of edges with the circuit.

# %%
for name in ("patching", "composition"):
    print(name, end=": ")
    shell(f"krohn score {home}/circuit.json {name}.csv")

# %%
true = {(e["from"], e["to"]) for e in circuit["edges"]}
figure, both = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for axes, (name, found) in zip(
    both, (("patching", patching), ("composition", composition)), strict=True
):
    grid = torch.full((len(components), len(components)), torch.nan)
    for (u, v), score in found.items():
        grid[components.index(v), components.index(u)] = score
    axes.imshow(grid, cmap="Blues", vmin=0)
    for u, v in true:
        spot = (components.index(u), components.index(v))
        axes.plot(*spot, marker="o", mfc="none", mec="crimson", ms=12)
    axes.set_xticks(range(len(components)), components, rotation=60, ha="right")
    axes.set_yticks(range(len(components)), components)
    axes.set_title(f"{name}; circles: the circuit")
plt.show()

# %% [markdown]
# Pale squares without a circle are edges that were rightly left out. Patching misses an
# edge that changed no answer on these words: a circle on a pale square. Composition misses
# none, because a compiled component has weights of exactly 0 where it does not read;
# trained networks have no such zeros. `krohn score` takes an edge as found if its score is
# above 0, and the area under the ROC curve asks for the order only.
#
# ## Where next
#
# * [The workbench](../instruments/workbench.md): all networks, and what `edge_effects` and
#   `edge_attributions` find on each.
# * [A sparse autoencoder on superposed features](../tutorials/sparse-autoencoder.py).
