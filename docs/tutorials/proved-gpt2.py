# %% [markdown]
# # A proved GPT-2 in nnsight
#
# [nnsight](https://nnsight.net) reads and changes what a model computes while it runs. Here
# the model is a real GPT-2 whose mechanism is known: Krohn derived its weights and proved
# them. You read its variables from the residual stream, change one of them, and hold every
# answer against the prediction.
#
# It needs `pip install nnsight`, beside the extra `huggingface`.
#
# ## Make the network
#
# S3 is the group of the permutations of three points. Its cascade is a counter modulo 2 and
# a counter modulo 3 whose direction the first one decides. `krohn export --to gpt2` writes
# the weights of an unmodified `GPT2LMHeadModel`, and `verify` proves the files on the disk.

# %%
import json
from pathlib import Path

import torch
from nnsight import NNsight
from transformers import AutoModelForCausalLM, AutoTokenizer

import krohn

compiled = krohn.compile("S3", 8, "cascade", strict=True, keep=True)
krohn.export(compiled, to="gpt2", directory="s3-gpt2", sample=50)
print(krohn.verify("s3-gpt2", proof=True).verdict)

# %% [markdown]
# From here on the folder is all that is needed: the cells down to *Hold it against the
# prediction* do not use Krohn.
#
# ## Read
#
# `circuit.json` says where each variable lies. The GPT-2 has the dimensions of the strict
# network first, and their negatives behind them.

# %%
circuit = json.loads(Path("s3-gpt2/circuit.json").read_text("utf-8"))
for v in circuit["variables"]:
    print(f"{v['variable']:18} {v['code']:8} dimensions {v['dims']}, from {v['hook']}")

# %%
words = AutoTokenizer.from_pretrained("s3-gpt2")
gpt2 = NNsight(AutoModelForCausalLM.from_pretrained("s3-gpt2"))
base = words("213 231 132 312 321 213", return_tensors="pt")

with gpt2.trace(**base):
    first = gpt2.transformer.h[0].output.save()
    third = gpt2.transformer.h[2].output.save()
    logits = gpt2.output.logits.save()

print("sum0", first[0, :, 9].round().int().tolist())
print("sum1", third[0, :, 15].round().int().tolist())
print(words.convert_ids_to_tokens(logits[0, 1:].argmax(-1).tolist()))

# %% [markdown]
# `sum0` counts the letters that are odd permutations; modulo 2 it is the first counter.
#
# ## Change
#
# `now0` is the first counter before a letter, in two dimensions. Take its value at each
# position from a second word, with the negatives, and see what the network says then.

# %%
(place,) = (v for v in circuit["variables"] if v["variable"] == "now0.one-hot")
config = json.loads(Path("s3-gpt2/config.json").read_text("utf-8"))
width = config["krohn"]["model"]["architecture"]["d_model"]
lies = [*range(*place["dims"]), *(width + d for d in range(*place["dims"]))]
source = words("231 213 213 132 213 231", return_tensors="pt")

with gpt2.trace(**source):
    given = gpt2.transformer.h[0].output[:, :, lies].save()


def changed(position: int) -> list[int]:
    """The answers after each letter, as tokens, with the value of the second word."""
    with gpt2.trace(**base):
        gpt2.transformer.h[0].output[:, position, lies] = given[:, position]
        said = gpt2.output.logits[0, 1:].argmax(-1).save()
    return torch.Tensor.tolist(said)


before = logits[0, 1:].argmax(-1).tolist()
answers = {at: changed(at) for at in range(1, base.input_ids.shape[1])}
for at, said in answers.items():
    print(
        at,
        ["." if a == b else words.decode(b) for a, b in zip(before, said, strict=True)],
    )

# %% [markdown]
# Where the second word has another sign, the letter is added in the other direction, and
# all answers from there on differ.
#
# ## Hold it against the prediction
#
# Krohn's Program says what should happen.

# %%
net = compiled.model
letters = words.convert_ids_to_tokens(base.input_ids[0, 1:].tolist())
right = 0
for at, said in answers.items():
    value = int(given[0, at, : len(lies) // 2].argmax())
    outcome = net.patch(letters, "now0.one-hot", at, value)
    told = [words.decode(token).removeprefix("state: ") for token in said]
    right += told == list(outcome.predicted)
print(f"{right} of {len(answers)} changes do what the Program says")
assert right == len(answers)

# %% [markdown]
# ## Where next
#
# * [Circuit discovery against the truth](../tutorials/circuit-discovery.py): find the edges
#   without being told.
# * [Compiled networks as GPT-2 weights](../architectures/gpt2.md): what is proved of these
#   files.
