"""The README.md of an export: what it claims, and a program that uses it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from krohn.algebra.wording import count, cut
from krohn.foreign import called
from krohn.network.exports import Destination
from krohn.network.exports.circuit import Labels
from krohn.network.model import Model, said
from krohn.network.modelfile import ModelFile, claimed_length
from krohn.program.letter_tokenizer import BOS, blank, tokens
from krohn.source_kinds import of_file

NAME = "README.md"
MOST_NAMES = 200
"""In characters, of a list of names."""
LETTERS = 3
"""How many letters the word of the program has, where words are so long."""

GPT2 = """\
from transformers import AutoModelForCausalLM, AutoTokenizer

words = AutoTokenizer.from_pretrained(".")
model = AutoModelForCausalLM.from_pretrained(".")
said = model.generate(**words({text!r}, return_tensors="pt"))
print(words.decode(said[0]))  # {answer}"""
CLASSES = """\
from transformers import pipeline

told = {{"trust_remote_code": True, "ignore_labels": []}}
say = pipeline("token-classification", model=".", **told)
print(*(each["entity"] for each in say({text!r})))  # {answer}"""
WRITES = """\
from transformers import AutoModelForCausalLM, AutoTokenizer

words = AutoTokenizer.from_pretrained(".", trust_remote_code=True)
model = AutoModelForCausalLM.from_pretrained(".", trust_remote_code=True)
said = model.generate(**words({text!r}, return_tensors="pt"))
print(words.decode(said[0]))"""
ONNX = """\
import json, numpy, onnxruntime

session = onnxruntime.InferenceSession("model.onnx")
(logits,) = session.run(["logits"], {{"letters": numpy.array([{ids}])}})
classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
print(*(classes[i] for i in logits[0].argmax(-1)))  # {answer}"""
LENS = """\
import json, pathlib, torch
from krohn.network.exports.transformer_lens import bridge  # of Krohn; docs: without it

logits = bridge(pathlib.Path("."))(torch.tensor([{ids}]))
classes = json.loads(pathlib.Path("names.json").read_text("utf-8"))["classes"]
print(*(classes[i] for i in logits[0, 1:].argmax(-1)))  # {answer}"""


@dataclass(frozen=True)
class Example:
    """A word, and what the network says of it.

    Attributes:
        letters: The indices of its letters.
        text: The same as a text.
        said: The names of what it says after each letter.
        last: What it says after the last one, as a token of a GPT-2.
    """

    letters: tuple[int, ...]
    text: str
    said: tuple[str, ...]
    last: str


def card(file: ModelFile, home: Destination, names: Labels, proved: str) -> str:
    """The text of README.md.

    Args:
        file: The network.
        home: Where it went.
        names: Of its letters and classes there.
        proved: What holds of the export for all words.
    """
    return f"""\
# {called(file.header)}, for {home.title}

Written by Krohn, which derives weights and proves what they compute.

**Claim.** {claim(file, names)}

**Here.** {proved[0].upper()}{proved[1:]}. Computed here: {home.arithmetic}.

This program prints what stands behind it. Run it in this directory:

```python
{_program(file, home, names)}
```

{_again(home)}
"""


def claim(file: ModelFile, names: Labels) -> str:
    """The claim of the network in a sentence: the one place where a card says it."""
    stated, longest = file.header["claim"], claimed_length(file.header)
    many = "every length" if longest is None else f"up to {count(longest, 'letter')}"
    shows = "states" if names.states and names.classes == names.states else "answers"
    if of_file(file).prompt(file) is not None:
        shows = "tokens"
    off = (
        f"each output is within {stated['error']:.3g} of that of the source"
        if "error" in stated
        else "the largest logit is that of the right answer"
    )
    return (
        f"In {file.precision.name}, after every letter of every word of {many}, {off}. "
        f"Its {count(len(names.letters), 'letter')}: {_listed(names.letters)}. What its "
        f"{count(len(names.classes), 'logit')} stand for ({shows}): "
        f"{_listed(dict.fromkeys(names.classes))}."
    )


def _listed(names: Sequence[str] | dict[str, None]) -> str:
    return cut(", ".join(f"`{name}`" for name in names), MOST_NAMES)


def _again(home: Destination) -> str:
    """How to prove it again."""
    if home.name == "gpt2":
        return "`krohn verify .` proves it again, from these files alone."
    carried = "The code beside this file runs it; Krohn need not be installed.\n\n"
    return carried * (home.name == "huggingface") + (
        "`krohn verify` proves the model file that this was made of, and `krohn export` "
        "holds these tensors against it (docs/exports.md)."
    )


def _program(file: ModelFile, home: Destination, names: Labels) -> str:
    prompt = of_file(file).prompt(file)
    if home.name == "huggingface" and prompt is not None:
        return WRITES.format(text=prompt)
    given = _example(file, names)
    answer, ids = " ".join(given.said), list(given.letters)
    if home.name == "gpt2":
        first = BOS.replace(" ", blank(names.letters))
        shown = [first, *(names.letters[a] for a in given.letters), given.last]
        return GPT2.format(text=given.text, answer=" ".join(shown))
    if home.name == "huggingface":
        return CLASSES.format(text=given.text, answer=answer)
    front = [len(names.letters)] * (home.name == "transformer-lens")
    program = LENS if front else ONNX
    return program.format(ids=front + ids, answer=answer)


def _example(file: ModelFile, names: Labels) -> Example:
    """The first letters of the alphabet, as a word."""
    longest = claimed_length(file.header)
    length = LETTERS if longest is None else min(LETTERS, longest)
    word = tuple(i % len(names.letters) for i in range(length))
    with torch.inference_mode():
        logits = Model(file)(torch.tensor([word]))[0]
    at = logits.argmax(dim=-1).tolist()
    last = ""
    if "source" not in file.header:
        outputs = file.header["claim"].get("shows", "states") != "states"
        called = tokens(file.header["machine"], outputs)
        last = called[len(names.letters) + 1 + at[-1]]
    text = blank(names.letters).join(names.letters[a] for a in word)
    return Example(word, text, said(logits, names.classes), last)
