"""The tokenizer of a GPT-2 that reads letters by name: its files, made of names alone.

A name between two blanks is a letter or nothing: the names of BOS and of the answers hold
a blank, and there is no token for what is unknown, so the library refuses such a text
with an error (docs/architectures/gpt2.md, section 1). The checker demands these files
(`krohn.verify.checker`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krohn.program.errors import demand

BLANKS = (" ", ",", ";", "|", "\t", "\n")
"""Signs that may separate letters; names of letters that hold one need the next."""
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
"""The files of the tokenizer itself."""
BOS = "<no letter>"
"""BOS, EOS and the token behind shorter words are one, as in GPT-2 itself."""
UNKNOWN = "<no token>"
"""The token that the library looks up for an unknown name, and does not find."""


def blank(letters: Sequence[str]) -> str:
    """The sign that separates letters in a text: it occurs in no letter's name.

    Raises:
        Refused: If each possible sign is in some name, or a name is empty.
    """
    demand("" not in letters, "a letter has the empty name, which no text can hold")
    fitting = [sign for sign in BLANKS if not any(sign in name for name in letters)]
    demand(fitting != [], "a name holds blanks, commas and more; no tokenizer reads it")
    return fitting[0]


def outputs_of_states(machine: Mapping[str, Any]) -> list[str] | None:
    """The name of each state's output; None if states have no outputs.

    Raises:
        Refused: If an output has no name.
    """
    output = machine.get("output")
    if output is None or output["on"] != "states":
        return None
    called, table = output["names"], output["table"]
    whole = all(type(i) is int and 0 <= i < len(called) for i in table)
    demand(whole and len(table) == len(machine["states"]), "an output has no name")
    return [called[i] for i in table]


def tokens(machine: Mapping[str, Any], outputs: bool) -> list[str]:
    """The names of all tokens, by their ids: letters, BOS, and the answer of each logit.

    Args:
        machine: As a model file states it.
        outputs: Whether logits stand for its outputs, and not for its states.

    Raises:
        Refused: If two would have one name, or nothing can stand between letters.
    """
    letters, between = machine["letters"], blank(machine["letters"])
    answers = [f"state:{between}{name}" for name in machine["states"]]
    if outputs:
        answers = [f"output:{between}{name}" for name in machine["output"]["names"]]
    elif (seen := outputs_of_states(machine)) is not None:
        pairs = zip(seen, answers, strict=True)
        answers = [f"output:{between}{name},{between}{state}" for name, state in pairs]
    names = [*letters, BOS.replace(" ", between), *answers]
    demand(len(set(names)) == len(names), "two tokens have the same name")
    return names


def library_files(
    called: Sequence[str], letters: int, positions: int
) -> dict[str, Any]:
    """The files that a directory has beside the network, as JSON, by their names.

    Args:
        called: `tokens`.
        letters: How many of them are letters; BOS is next.
        positions: How many tokens a text may have, with BOS.

    Raises:
        Refused: If nothing can stand between letters.
    """
    name, between = called[letters], blank(called[:letters])
    added = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    first = {"SpecialToken": {"id": name, "type_id": 0}}
    text = [{"Sequence": {"id": part, "type_id": i}} for i, part in enumerate("AB")]
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": letters, "content": name, **added, "special": True}],
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
            "pair": [first, *text],
            "special_tokens": {name: {"id": name, "ids": [letters], "tokens": [name]}},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {token: i for i, token in enumerate(called)},
            "unk_token": UNKNOWN.replace(" ", between),
        },
    }
    config = {
        **dict.fromkeys(("bos_token", "eos_token", "pad_token"), name),
        "backend": "tokenizers",
        "clean_up_tokenization_spaces": False,
        "model_max_length": positions,
        "padding_side": "right",
        "split_special_tokens": True,
        "tokenizer_class": "TokenizersBackend",
    }
    return {
        "generation_config.json": {"do_sample": False, "max_new_tokens": 1},
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": config,
    }
