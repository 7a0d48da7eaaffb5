# %% [markdown]
# # A proof, read
#
# Krohn says `verified` about a network. In this tutorial you read such a proof from the
# first line to the last, and compute every number in it yourself. The network is the
# smallest one that is interesting: it remembers one bit.
#
# ## The claim
#
# The machine `FlipFlop` has two states, `1` and `2`, and three letters. The letters `1`
# and `2` set the state, and `⊥` keeps it.

# %%
import itertools
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import krohn
from krohn import evidence

machine = krohn.zoo("FlipFlop")
model = krohn.compile(machine, length=20)
report = krohn.verify(model.file, machine, proof=True)
print(f"{report.verdict}: {report.covers}")

# %% [markdown]
# In full: for every word of up to 20 letters and at every position, the largest logit of
# the network is that of the machine's state there, when the network runs in float32 and
# sums are taken in any order. There are 3²⁰ ≈ 3.5 billion words of 20 letters. The proof
# runs none of them.
#
# ## The network
#
# Here are all weights that matter. The residual stream has five dimensions: `one` (always
# 1), `index` (the position), `written` (the state that this letter sets), `writes` (whether
# it sets one), and `stored` (what the head finds).

# %%
weights = model.file.tensors
np.set_printoptions(suppress=True, linewidth=100)

print("one row for each letter, and BOS:\n", weights["embed.token"])
print("positions 0 to 3:\n", weights["embed.position"][:4])
for part in ("query", "key", "value"):
    print(part, weights[f"blocks.0.attention.{part}"][0, :, 0])
print("out  ", weights["blocks.0.attention.out"][0, 0])
print("read-out\n", weights["unembed.weight"], "+", weights["unembed.bias"])

# %% [markdown]
# The query is 32 everywhere, and the key of position j is j + 32·writes. So position j has
# the score 32·(j + 32·writes). Among letters that write, the last one has the largest
# score, and a letter that does not write is far below all that do. The head copies
# `written` from the last letter that wrote. That is the state.
#
# The proof has two halves. First: *reading from the last letter that wrote* computes the
# machine. Second: *these weights* read from the last letter that wrote, up to an error
# that does no harm.
#
# ## First half: the Program computes the machine
#
# The file states what the network is meant to compute, as a *Program* of four channels.

# %%
for channel in model.file.header["program"]["channels"]:
    told = {k: v for k, v in channel.items() if k in ("op", "rows", "source", "where")}
    print(channel["name"], told)

# %% [markdown]
# `rows` lists letter and value; letter 3 is BOS, the mark before the first letter. To show
# that this is the machine, one induction over the length of the word is enough. What must
# be remembered after a word is one bit, the value of `stored`. The induction says: *after
# every word, (state, stored) is one of these pairs.* The evidence lists the pairs, and
# where each letter leads from each of them.

# %%
part = model.proof.told["program"]["parts"][0]
sets, of_state = part["cells"]["stored"]
for number, state in enumerate(part["states"]):
    stored = sets[of_state[number][0]]
    print(
        f"case {number}: state {machine.states[state]}, stored is in {stored};",
        "letters lead to",
        part["follow"][number],
    )

# %% [markdown]
# The checker tries each letter in each case: six steps. Here they are.

# %%
rows = {
    c["name"]: dict(c["rows"])
    for c in model.file.header["program"]["channels"]
    if "rows" in c
}
moves = machine.semiautomaton.transitions

for case, letter in itertools.product(range(2), range(3)):
    state, stored = part["states"][case], sets[of_state[case][0]][0]
    after = rows["written"][letter] if rows["writes"][letter] else stored
    then = part["follow"][case][letter]
    assert moves[letter, state] == part["states"][then]
    assert after == sets[of_state[then][0]][0]
    print(
        f"case {case}, letter {machine.letters[letter]}: stored {stored} → {after},",
        f"state {machine.states[state]} → {machine.states[moves[letter, state]]}",
    )

# %% [markdown]
# Before the first letter `stored` is 0 and the state is `1`: case 0. Each step leads from a
# case to a case. So after every word of any length, `stored` is 0 in state `1` and 1 in
# state `2`. The first half is done ([Theorem 2.1](../proofs/invariants.md#invariants)).
#
# ## Second half: the weights compute the Program
#
# The head must put almost all of its weight on the last letter that wrote. Which letters
# write depends on the word, but the scores of a position have two possible values only:
# one if it writes, one if it does not. So a sum over positions covers all words at once.

# %%
positions = np.arange(21)
on = 32.0 * (positions + 32)  # the score of a position that writes
off = 32.0 * positions  # the score of one that does not


def astray(right: int, at: int) -> float:
    """The most weight beside the right position, relative to its own."""
    before = np.exp(on[:right] - on[right]).sum()  # these may write
    behind = np.exp(off[right + 1 : at + 1] - on[right]).sum()  # these may not
    return before + behind


leak = max(astray(i, t) for t in range(21) for i in range(t + 1))
print(f"leak of exact scores: {leak:.5e}")

# %% [markdown]
# The worst case is a letter that writes next to another one that writes: e⁻³² ≈ 1.3·10⁻¹⁴.
# The checker computes the same sums from the tensors, and then allows for the rounding of
# scores and exponents ([Theorem R1](../proofs/attention.md#sharp-heads)). Its number is:

# %%
(head,) = (
    step for step in report.proof.evidence if step.get("sublayer") == "attention 0"
)
(bound,) = head["channels"]
print(bound)

error = bound["score_error"]
print(f"{leak * np.exp(2 * error):.10e}")
assert leak * np.exp(2 * error) <= bound["leak"] * (1 + 1e-6)

# %% [markdown]
# How far can the number be off that the head writes? The weight that is astray brings
# wrong values, of at most 1; and sums, quotients and exponentials in float32 round. With
# u = 2⁻²⁴, half of the distance between 1 and the next number, Theorem 12 gives
# (2·leak + 96u) + 4·leak for a value of 1, and one more rounding when it is stored.

# %%
u = 2.0**-24
noise = (2 * bound["leak"] + 96 * u) + 4 * bound["leak"] + u
print(f"by hand {noise:.4e}, by the checker {bound['noise']:.4e}")
assert abs(noise - bound["noise"]) < 1e-2 * noise

# %% [markdown]
# So `stored` is within 0.000006 of 0 or 1. The read-out has the logits 0 and
# 2·stored − 1. At 0 they are 0 and −1, at 1 they are 0 and 1: the right one is ahead by 1,
# less twice the noise and its own rounding.

# %%
read_out = report.proof.evidence[-1]
print("by hand", 1 - 2 * noise, "by the checker", read_out["margin"])
assert abs(1 - 2 * noise - read_out["margin"]) < 1e-5

# %% [markdown]
# The margin is above 0, so the right logit is the largest. That is the whole proof.
#
# ## What you need to trust
#
# The search for evidence and the compiler need no trust. The small checker does: it
# takes a model file, the evidence and a machine, and imports numpy and safetensors only.

# %%
with TemporaryDirectory() as folder:
    file, proof = Path(folder) / "memory.safetensors", Path(folder) / "memory.json"
    model.save(file)
    evidence.write(krohn.verify(file, proof=True), file, proof)
    print(evidence.check(file, proof, "FlipFlop").verdict)

    forged = json.loads(proof.read_text())
    forged["leak"]["stored"] = 1e-20
    proof.write_text(json.dumps(forged))
    print(evidence.check(file, proof, "FlipFlop").reason)

# %% [markdown]
# The forged evidence claims a smaller leak than the weights have. It is refused.
#
# ## Break it
#
# Let neighbours be 1/2 apart instead of 32. Then the letters before the last one weigh more
# than the last one, and the network is wrong on some words. Krohn finds a shortest one.

# %%
model.file.tensors["blocks.0.attention.query"][:] /= 64
broken = krohn.verify(model.file, machine)
assert broken.counterexample is not None
print(broken.verdict, broken.counterexample.word)

# %% [markdown]
# ## Where next
#
# * [Soundness](../soundness.md) proves every rule that was used here, and states what is
#   assumed of the arithmetic.
# * [Evidence, and the small checker](../recheck.md) has the file format, and the size of
#   the checker.
