"""The tokenizer of a GPT-2 that reads letters by name: its files, made of names alone.

A name between two blanks is a letter or nothing: the names of BOS and of the classes hold
a blank, and there is no token for what is unknown, so the library refuses such a text
with an error (docs/gpt2.md, section 1).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from network.errors import ExportError
from network.exports.labels import Labels

BLANKS = (" ", ",", ";", "|", "\t", "\n")
"""What may stand between letters; names of letters that hold one need the next."""
BOS = "<no letter>"
"""BOS, EOS and the token behind shorter words are one, as in GPT-2 itself."""
UNKNOWN = "<no token>"
"""What the library looks up for an unknown name, and does not find."""


def blank(letters: Sequence[str]) -> str:
    """What stands between letters.

    Raises:
        ExportError: If everything is in some name.
    """
    if "" in letters:
        raise ExportError("a letter has the empty name, which no text can hold")
    for sign in BLANKS:
        if not any(sign in letter for letter in letters):
            return sign
    raise ExportError("a name holds blanks, commas and more; no tokenizer reads it")


def tokens(labels: Labels) -> tuple[str, ...]:
    """The names of all tokens, by their ids: letters, BOS, classes."""
    kinds = ["output: {0}"] if labels.outputs else []
    if labels.states:
        kinds.append("state: {1}")
    between = blank(labels.letters)
    called = ", ".join(kinds).replace(" ", between)
    pairs = zip(labels.classes, labels.states or labels.classes, strict=True)
    said = (called.format(*pair) for pair in pairs)
    return (*labels.letters, BOS.replace(" ", between), *said)


def tokenizer_files(labels: Labels, positions: int) -> Mapping[str, Any]:
    """The content of the tokenizer's files, as JSON, by their names.

    Args:
        labels: The names of letters and classes.
        positions: How many tokens a text may have, with BOS.

    Raises:
        ExportError: If nothing can stand between letters.
    """
    called, bos = tokens(labels), len(labels.letters)
    name, between = called[bos], blank(labels.letters)
    config = {
        "bos_token": name,
        "clean_up_tokenization_spaces": False,
        "eos_token": name,
        "model_max_length": positions,
        "pad_token": name,
        "padding_side": "right",
        "split_special_tokens": True,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    return {
        "tokenizer.json": _tokenizer(called, bos, between),
        "tokenizer_config.json": config,
    }


def _tokenizer(called: Sequence[str], bos: int, between: str) -> dict[str, Any]:
    """``tokenizer.json``: names between blanks, with BOS in front."""
    name = called[bos]
    added = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    first = {"SpecialToken": {"id": name, "type_id": 0}}
    text = [{"Sequence": {"id": part, "type_id": i}} for i, part in enumerate("AB")]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": bos, "content": name, **added, "special": True}],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": between},
            "behavior": "Removed",
            "invert": False,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, text[0]],
            "pair": text,
            "special_tokens": {name: {"id": name, "ids": [bos], "tokens": [name]}},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {token: i for i, token in enumerate(called)},
            "unk_token": UNKNOWN.replace(" ", between),
        },
    }
