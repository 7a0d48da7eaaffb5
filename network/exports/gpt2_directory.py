"""A directory that Hugging Face's library opens as a GPT-2, and Krohn as a proof.

``config.json``, ``model.safetensors``, a tokenizer of letters and states by name, and
``krohn.json``, which says what the network computes.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import save_file

from network import strict_json
from network.errors import ExportError
from network.exports import circuit, gpt2
from network.modelfile import ModelFile, names

if TYPE_CHECKING:
    from torch import Tensor

FORMAT, VERSION = "krohn-gpt2", 1
BLANKS = (" ", ",", ";", "|", "\t", "\n")
"""What may stand between letters; names that hold one need the next."""
BOS, STATE = "<bos>", "state:"


def write(
    file: ModelFile, directory: Path, activation: gpt2.Activation = "gelu_new"
) -> None:
    """Write a strict network into an empty directory.

    Raises:
        ExportError: If the network has what GPT-2 lacks.
    """
    sizes = gpt2.plan(file, activation)
    stored = {
        name: np.ascontiguousarray(file.precision.store(tensor))
        for name, tensor in gpt2.tensors(file, sizes).items()
    }
    config = gpt2.configuration(file, sizes)
    words = tokens(file)
    blank = next((b for b in BLANKS if not any(b in w for w in words)), None)
    if blank is None:
        raise ExportError("a name holds blanks, commas and more; no tokenizer reads it")
    save_file(stored, directory / "model.safetensors", {"format": "pt"})
    (directory / "tokenizer.json").write_text(_tokenizer(words, config, blank), "utf-8")
    header = {key: value for key, value in file.header.items() if key != "evidence"}
    told = {"format": FORMAT, "version": VERSION, "model": header}
    (directory / "krohn.json").write_text(strict_json.canonical(told), "utf-8")
    for name, content in (
        ("config.json", config),
        ("generation_config.json", {"do_sample": False, "max_new_tokens": 1}),
        ("tokenizer_config.json", _tokenizer_config(file)),
    ):
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (directory / name).write_text(text + "\n", "utf-8")
    circuit.write(file, directory)


def tokens(file: ModelFile) -> list[str]:
    """The names of all tokens: letters, BOS, and the states, with something in front."""
    machine = file.header["machine"]
    letters = list(names(machine, "letters"))
    shows = file.header["claim"].get("shows", "states")
    states = (
        names(machine["output"], "names") if shows != "states" else machine["states"]
    )
    bos, state = BOS, STATE
    while bos in letters:
        bos = f"<{bos}>"
    while any(letter.startswith(state) for letter in letters):
        state += ":"
    return [*letters, bos, *(state + name for name in states)]


def _tokenizer(words: list[str], config: dict[str, Any], blank: str) -> str:
    """``tokenizer.json``: words between blanks, with BOS in front and for others."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from tokenizers.processors import TemplateProcessing

    bos = config["bos_token_id"]
    places = {word: i for i, word in enumerate(words)}
    # TransformerLens asks for the tokens of a word that is no letter.
    made = Tokenizer(WordLevel(places, unk_token=words[bos]))
    made.pre_tokenizer = Split(blank, "removed")
    front = [(words[bos], bos)]
    made.post_processor = TemplateProcessing(
        single=f"{words[bos]} $A", special_tokens=front
    )
    return str(made.to_str(pretty=True)) + "\n"


def _tokenizer_config(file: ModelFile) -> dict[str, Any]:
    letters = file.header["architecture"]["vocabulary"] - 1
    return {
        "bos_token": tokens(file)[letters],
        "clean_up_tokenization_spaces": False,
        "model_max_length": file.header["architecture"]["positions"],
        "tokenizer_class": "PreTrainedTokenizerFast",
    }


def open_logits(directory: Path) -> "Callable[[Tensor], Tensor]":
    """Letters to logits of the states, by Hugging Face's library and nothing else.

    Args:
        directory: What `write` wrote.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from network.exports.huggingface import silent

    with silent():
        model = AutoModelForCausalLM.from_pretrained(directory)
    bos = model.config.bos_token_id

    @torch.inference_mode()
    def logits(letters: "Tensor") -> "Tensor":
        front = letters.new_full((len(letters), 1), bos)
        found = model(torch.cat([front, letters], dim=1)).logits
        return torch.as_tensor(found[:, 1:, bos + 1 :])

    return logits
