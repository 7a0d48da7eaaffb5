# %% [markdown]
# # What did training find?
#
# A Transformer that computes parity can work in several ways. It can count the ones and
# take the count modulo 2. It can combine neighbouring letters, then pairs, then fours.
# Krohn derives a network for each way, so both are known exactly. In this tutorial you
# train a small GPT-2 on parity and ask which of the two it found: what it *holds*, by
# probes, and what it *uses*, by exchanging parts of its state between two words.
#
# It needs the extra `compare`: `pip install '.[compare]'`. On one core it takes about
# half a minute. Real comparisons train longer, on longer words
# ([compare](../instruments/compare.md)).
#
# ## Two derived networks

# %%
import matplotlib.pyplot as plt

import krohn
from krohn.instruments.compare.models import Gpt
from krohn.instruments.compare.probes.survey import (
    Survey,
    survey,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import train

LENGTH = 12

for construction in ("counter", "scan"):
    model = krohn.compile("C2", LENGTH, construction)
    print(construction, model.summary()["verdict"], end=": ")
    print(*(c["name"] for c in model.file.header["program"]["channels"]))

# %% [markdown]
# The machine `C2` has the letters `0` and `1`; its state is the parity of the ones. The
# counter has a channel `sum`, the number of ones so far. The scan has the products of the
# last 2, 4 and 8 letters. Each is a hypothesis about the trained network.
#
# ## Train
#
# Two blocks of width 32, and fresh random words of 12 letters in each batch.

# %%
parity = task("C2")
recipe = Recipe(
    steps=1500, batch=64, length=LENGTH, rate=2e-3, stop_at=0.999, every=100, probe=256
)
architecture = Gpt(depth=2, width=32, heads=4, inner=64)
run = train(parity, architecture, recipe, seed=0)

print(f"{run.steps} batches: {run.history[-1].accuracy:.1%} of answers right")
assert run.history[-1].accuracy > 0.99

# %% [markdown]
# ## What does it hold?
#
# For each variable of the derived networks, an affine probe tries to read it from the
# residual stream after each layer. Words that test the probe are not those that fit it.

# %%
found = survey(run.network, parity, how=Survey(words=240, length=LENGTH, exchanges=4))

names = [row.name for row in found.rows]
table = [[cell.trained.accuracy for cell in row.cells] for row in found.rows]

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
axes.imshow(table, vmin=0.3, vmax=1, cmap="Blues", aspect="auto")
axes.set_xticks(range(len(found.layers)), found.layers)
axes.set_yticks(range(len(names)), names)
for i, row in enumerate(table):
    for j, value in enumerate(row):
        colour = "white" if value > 0.75 else "black"
        axes.text(j, i, f"{value:.0%}", ha="center", va="center", color=colour)
axes.set_title("How well a probe reads each variable")
plt.show()

# %% [markdown]
# The number of ones can be read after the first layer, and not before it. No product of the
# scan is read right in 95 % of cases, which is the least that counts as readable; what can
# be guessed of them follows from the count and the position, on words as short as these.
# The answer appears in the second layer.
#
# ## What does it use?
#
# A network may hold a variable and not use it. So take two words, and replace in the first
# word's state the directions that hold the count by those of the second word. If the
# network uses the count, its answers must change as the *Program of the counter* says when
# its sum is replaced in the same way. As controls, the same is done with other
# directions: random ones, those in which states vary most, and those of the answer.

# %%
print(found.conclusion)
print()
for sentence in found.said:
    print("*", sentence)

# %% [markdown]
# The verdict `used` needs all of: at least 90 % of the answers that should change do, at
# least 90 % of the others stay, and the controls do clearly worse. The rules, and what
# this method cannot show, are in [which algorithm](../which-algorithm.md). With another
# seed or on another processor training may find something else: read the verdict above,
# not the one that you expect.

# %%
count = found.find_by_name("count of 1")
product = found.find_by_name("scan: product of the last 2 letters")
assert 1 in count.holding_layers
assert not product.holding_layers

# %% [markdown]
# ## Where it breaks
#
# The derived counter is proved. The trained one is right on almost all random words. Krohn
# looks for a word on which it is wrong.

# %%
report = krohn.examine(run.network, "C2", LENGTH)
print(report.verdict)
if report.counterexample is not None:
    print("shortest wrong word:", " ".join(report.counterexample.word))

# %% [markdown]
# ## Where next
#
# * `krohn compare C2 -o c2.html` does all of this and more with one command, for any
#   machine, with several seeds and an LSTM: [compare](../instruments/compare.md).
# * [Trained networks](../trained.md) has the tables of 213 networks.
# * [Networks that Krohn did not compile](../independent.md): examine a network of your own.
