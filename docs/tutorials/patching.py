# %% [markdown]
# # Patching a network whose mechanism is known
#
# Activation patching asks where a network keeps something: replace a part of its state by
# that of another word, and see whether the answer changes. On trained networks nobody knows
# the true answer. On a compiled network you do. In this tutorial you change variables by
# name and compare the network with its Program; then you patch blindly, as if the network
# had been trained, and check the map that comes out against the truth.
#
# ## The network
#
# S3 is the group of the permutations of three points. The cascade of it has two counters:
# one modulo 2 (the sign), and one modulo 3 whose direction the first one decides.

# %%
import itertools

import matplotlib.pyplot as plt
import torch

import krohn

model = krohn.compile("S3", length=8, construction="cascade").model
print(model, "letters:", ", ".join(model.letters))
for name, place in model.places().items():
    head = "" if place.head is None else f", written by head {place.head}"
    print(
        f"{name:11} dimension {place.dims[0]}, from snapshot {place.snapshots[0]}{head}"
    )

# %% [markdown]
# `sum0` is what the first head has added up: modulo 2 it is the sign. `sum1` is the sum
# that the second head takes, modulo 3.
#
# ## Watch
#
# `run_with_cache` keeps everything that is computed on the way: the residual stream after
# each sublayer, attention patterns, and each variable by name.

# %%
word = [model.letters[i] for i in (0, 1, 1, 0, 1, 0)]
logits, cache = model.run_with_cache(word)
print(word)
for name in ("sum0", "sum1"):
    print(name, cache[name][0].tolist())
print("attention of the last letter:", cache["blocks.0.attention.pattern"][0, 0, -1])

# %% [markdown]
# A head that adds up looks at all letters alike. The rest of its weight is on BOS.
#
# ## Change one variable
#
# Set `sum0` to another value after the third letter. `patch` runs the changed network and
# the *Program* with the same change. So you see what should happen, and what does.

# %%
outcome = model.patch(word, "sum0", position=3, value=0)
print(outcome)
print("before   ", outcome.before)
print("changed  ", outcome.answers)
print("predicted", outcome.predicted)
assert outcome.agrees is not False

# %% [markdown]
# Where the prediction is `None`, the Program has no answer: the change makes values meet
# that never occur together. Try every value at every position, for both sums.

# %%
tried = agreed = 0
for name in ("sum0", "sum1"):
    for position, value in itertools.product(range(1, len(word) + 1), range(4)):
        outcome = model.patch(word, name, position, value)
        if outcome.agrees is not None:
            tried += 1
            agreed += outcome.agrees
print(f"{agreed} of {tried} changes do what the Program says")
assert agreed == tried > 0

# %% [markdown]
# This is an intervention in the sense of causal abstraction (Geiger et al. 2021), and the
# network is a perfect abstraction of its Program here.
#
# ## Take a head away

# %%
for name in ("sum0", "sum1"):
    outcome = model.ablate(word, name)
    wrong = sum(a != b for a, b in zip(outcome.answers, outcome.before, strict=True))
    print(
        f"without the head of {name}: {wrong} of {len(word)} answers change;", outcome
    )

# %% [markdown]
# ## Patch blindly
#
# Now forget the names. Take a second word that differs in one letter, copy the residual
# stream of that word at one snapshot and one position into the run of the first word, and
# measure how much of the answer changes.

# %%
source = [model.letters[1], *word[1:]]
_, given = model.run_with_cache(source)
clean = logits[0, -1]
target = model(source)[0, -1]
snapshots = [name for name in model.hook_places() if name.startswith("stream.")]


def patched(snapshot: str, position: int) -> torch.Tensor:
    """The last logits with the stream of the source at one place."""

    def swap(stream: torch.Tensor) -> torch.Tensor:
        stream = stream.clone()
        stream[:, position] = given[snapshot][:, position]
        return stream

    return model.run_with_hooks(word, {snapshot: swap})[0, -1]


scale = (target - clean).norm()
effect = [
    [float((patched(s, t) - clean).norm() / scale) for t in range(len(word) + 1)]
    for s in snapshots
]

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
image = axes.imshow(effect, vmin=0, vmax=1, cmap="Blues", aspect="auto")
axes.set_xticks(range(len(word) + 1), ["BOS", *word])
axes.set_yticks(range(len(snapshots)), snapshots)
axes.set_xlabel("position")
axes.set_title("How much of the last answer a patch changes")
figure.colorbar(image)
plt.show()

# %% [markdown]
# Read it from the top, and compare it with what is known. In the embedding, `stream.0`,
# only the first letter matters: there the words differ. The first head (`stream.1`) adds up
# signs, so from then on every position holds another sign, and each steers one term of the
# second sum: each position matters. The second head (`stream.3`) takes that sum, and only
# the sum at the last position is read: there is the answer.
#
# So the map is right. But it depends on the pair of words. With `132` as the first letter
# of the source, which has the sign of `213`, no sign differs and the band in the middle is
# gone, in the same network.

# %%
source = [model.letters[2], *word[1:]]
_, given = model.run_with_cache(source)
middle = [float((patched("stream.1", t) - clean).norm()) for t in range(len(word) + 1)]
print("changes of the logits, first letter", source[0], [round(x, 3) for x in middle])

assert min(effect[1][1:]) > 0.99  # every letter after the first head
assert max(effect[-1][:-1]) < 1e-6  # the last one alone at the end
assert max(middle[2:]) < 1e-6

# %% [markdown]
# ## Where next
#
# * [What did training find?](../tutorials/what-did-training-find.py) uses exchanges like
#   these, with controls, on a network that was trained.
# * [Exports](../architectures/exports.md): the same network in TransformerLens, with a
#   table of which component carries which variable.
