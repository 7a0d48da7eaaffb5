# %% [markdown]
# # Your automaton in ten minutes
#
# You write a machine of your own as a Python dict, compile it into a Transformer, read the
# proof's verdict, run the network, and find the machine's variables inside.
#
# ## A machine
#
# A lift stands on one of three floors. The letters `up` and `down` move it by one floor,
# and at the ends it stays. The letter `ground` sends it down.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import krohn

floors = {
    "0": {"up": "1", "down": "0", "ground": "0"},
    "1": {"up": "2", "down": "0", "ground": "0"},
    "2": {"up": "2", "down": "1", "ground": "0"},
}
lift = krohn.automaton(floors, start="0", name="lift")
lift

# %% [markdown]
# [Machine formats](../formats.md) lists what else may stand here: a function, permutations,
# a graph, an automaton of another library, a file, a regular expression, a name.
#
# ## What is it?

# %%
facts = krohn.explain(lift, length=32)
print(facts["kind"])
print("aperiodic:", facts["aperiodic"])
print("chosen:", facts["why"])

# %% [markdown]
# The machine has no group in it: it forgets, and never counts in circles. `explain` has
# compared all constructions that apply and picked one.
#
# ## Compile

# %%
model = krohn.compile(lift, length=32)
model

# %%
summary = model.summary()
for key in ("construction", "depth", "layers", "d_model", "heads", "parameters"):
    print(f"{key:12} {summary[key]}")
print(model.proof.verdict)

# %% [markdown]
# The weights were derived from the machine. No data was used, and nothing was trained.
# `verified` means: on every word of up to 32 letters, at every position, the largest logit
# is that of the machine's state, in float32.
#
# ## Run it
#
# `model.model` is a `torch.nn.Module`. `run` takes the names of letters, and calling it
# takes numbers and gives logits.

# %%
net = model.model
word = ["up", "up", "up", "down", "ground", "up"]
print(net.run(word))
assert net.run(word) == ["1", "2", "2", "1", "0", "1"]

tokens = net.encode(word)
logits = net(tokens)
print("logits", tuple(logits.shape), "after the last letter:", logits[0, -1].tolist())

# %% [markdown]
# ## Look inside
#
# Each variable that the construction computes has a name and a place: dimensions of the
# residual stream, and the sublayers between which it lies there.

# %%
for name, place in net.places().items():
    first, last = place.dims
    since = place.snapshots[0]
    print(f"{name:14} dimensions {first} to {last - 1}, from snapshot {since}")

# %% [markdown]
# Snapshot 0 is the embedding; 2b + 1 is what the heads of block b leave, and 2b + 2 what
# its MLP leaves. `read` gives the value of a variable at each position; the first
# position is BOS, before the first letter.

# %%
for name in net.places():
    print(f"{name:14}", net.read(tokens, name)[0].tolist())

# %% [markdown]
# ## Check it again, and keep it
#
# `verify` takes the machine that *you* mean, and proves the file against it. It can also
# run all short words, which needs no theory.

# %%
with TemporaryDirectory() as folder:
    file = Path(folder) / "lift.safetensors"
    model.save(file)
    report = krohn.verify(file, lift, proof=True, exhaustive=6)
print(f"{report.verdict}: {report.covers}; {report.words} words were run")
assert report.verdict == "verified"

# %% [markdown]
# What if the file is about another machine? Let `ground` do nothing.

# %%
other = krohn.automaton(
    {floor: moves | {"ground": floor} for floor, moves in floors.items()},
    start="0",
    name="broken lift",
)
report = krohn.verify(model.file, other)
print(report.verdict, report.counterexample.word)
print(
    "expected", report.counterexample.expected, "actual", report.counterexample.actual
)
assert report.verdict == "refuted"

# %% [markdown]
# The answer is a shortest word on which network and machine differ.
#
# ## Where next
#
# * [From S4 to a cascade](../tutorials/s4-to-a-cascade.py): a machine with groups in it.
# * [A proof, read](../tutorials/a-proof-read.py): what stands behind `verified`.
# * [What `explain` says](../start/explain.md), line by line.
