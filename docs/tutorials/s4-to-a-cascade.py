# %% [markdown]
# # From S4 to a cascade
#
# S4 is the group of the 24 permutations of four points. As a machine it has 24 states,
# and each letter is a permutation. In this tutorial you take the machine apart into four
# small counters, check that the counters follow the machine, and find them again inside
# a neural network, each in a layer of its own.
#
# Krohn and Rhodes (1965) proved that every finite machine comes apart into small groups
# and memories that steer each other.

# %%
import random

import numpy as np

import krohn

machine = krohn.zoo("S4")
print(len(machine.states), "states; letters:", ", ".join(machine.letters))

# %% [markdown]
# A state such as `2134` says where the four points are. The letter `2134` exchanges the
# first two points.
#
# ## Take it apart

# %%
found = krohn.decompose("S4")
cascade = found.found.cascade
found

# %% [markdown]
# Four counters on three levels. The first one counts modulo 2 and reads nothing but the
# letter. The second one counts modulo 3, and the first one decides in which direction a
# letter turns it. The last two count modulo 2 and read the two above them, not each
# other.
#
# This is the derived series of the group: S4 ⊃ A4 ⊃ V4 ⊃ 1. The factors between
# neighbours are C2, C3 and C2 × C2, and each of them is a level.
#
# The decomposition was proved before it was returned: from each of the 24 tuples of
# counter values, the counters follow the machine on words of every length
# ([the proof](../proofs/decomposition.md#diagrams-instead-of-tables)).

# %%
found.found.covering

# %% [markdown]
# ## Follow a word
#
# `lift` says at which values the counters start; `step` reads one letter; `state_of`
# says which state of the machine the values stand for. Here are the machine and the
# counters, side by side.

# %%
word = random.Random(7).choices(machine.letters, k=10)
index = {letter: i for i, letter in enumerate(machine.letters)}
tokens = np.array([index[letter] for letter in word])

states = machine.semiautomaton.trace(tokens, machine.start)
at = cascade.lift[[machine.start]]
coordinates = []
for letter, state in zip(word, states, strict=True):
    at = cascade.step(at, np.array([index[letter]]))
    coordinates.append(at[0])
    named = machine.states[cascade.state_of(at)[0]]
    print(letter, " machine:", machine.states[state], " counters:", at[0], "=", named)
    assert named == machine.states[state]

# %% [markdown]
# The first counter has a name: it is the sign of the permutation. A letter such as
# `2134` that exchanges two points changes it, and `2143`, two exchanges, does not.
#
# ## Compile it
#
# The construction `cascade` gives each counter a head that adds up, and a table that
# takes the sum modulo 2 or 3. Counters that do not read each other share a layer.

# %%
model = krohn.compile("S4", 32, "cascade")
{key: model.summary()[key] for key in ("depth", "layers", "parameters", "verdict")}

# %% [markdown]
# Three layers of attention, as many as levels. `verified` means: proved from the weights
# alone, for all 8³² words of 32 letters and all shorter ones.
#
# ## Find the counters in the network
#
# Each variable has a place in the residual stream. `sum0` is what the first head has
# added up; modulo 2 it is the first counter.

# %%
net = model.model
tokens = net.encode(word)
for name, modulus in (("sum0", 2), ("sum1", 3), ("sum2", 2), ("sum3", 2)):
    place = net.places()[name]
    values = net.read(tokens, name)[0, 1:] % modulus
    print(name, "layer", (place.snapshots[0] + 1) // 2, values.tolist())

# %%
for i, (name, modulus) in enumerate(
    (("sum0", 2), ("sum1", 3), ("sum2", 2), ("sum3", 2))
):
    in_network = net.read(tokens, name)[0, 1:] % modulus
    assert in_network.tolist() == [int(values[i]) for values in coordinates]

# %% [markdown]
# The numbers in the network are the values of the counters, letter by letter.
#
# ## Where depth comes from
#
# A scan, which composes the maps of neighbouring windows, needs a layer for each
# doubling of the length. The cascade needs one for each level, however long the word is.

# %%
for length in (16, 32):
    for construction in ("scan", "cascade"):
        one = krohn.compile("S4", length, construction, proof=False)
        print(length, construction, one.summary()["depth"])

# %% [markdown]
# A5, the first group that is not solvable, has no such series, and its network grows with
# the length. Try `krohn.decompose("A5")`: what remains is one simple group, and no counter.
#
# * [What a machine is made of](../decomposition.md) has the mathematics.
# * [Depth](../depth.md) lists the shallowest proved network of every machine of the zoo.
