"""A directory that Hugging Face's library opens as a GPT-2, and Krohn as a proof.

``model.safetensors``; ``config.json``, which says what the network computes, too, where
`save_pretrained` keeps it; and a tokenizer of letters and answers by name.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import save_file

from krohn.network.errors import ExportError
from krohn.network.exports import circuit, gpt2
from krohn.network.exports.labels import labels
from krohn.network.modelfile import ModelFile
from krohn.program import claim
from krohn.program.errors import Refused
from krohn.program.letter_tokenizer import (
    TOKENIZER,
    library_files,
    outputs_of_states,
    tokens,
)

if TYPE_CHECKING:
    from torch import Tensor

FORMAT, VERSION = "krohn-gpt2", 2


def write(
    file: ModelFile,
    directory: Path,
    states: bool = False,
    activation: gpt2.Activation = "gelu_new",
) -> None:
    """Write a strict network into an empty directory.

    Args:
        file: The network.
        directory: Where to.
        states: Whether it may say states only, though the machine has outputs.
        activation: Of all units.

    Raises:
        ExportError: If the network has what GPT-2 lacks.
    """
    sizes = gpt2.plan(file, activation)
    stored = {
        name: np.ascontiguousarray(file.precision.store(tensor))
        for name, tensor in gpt2.tensors(file, sizes).items()
    }
    header = {k: v for k, v in file.header.items() if k not in ("evidence", "digest")}
    library = _library(file, states)
    digest = claim.of(header, {name: library[name] for name in TOKENIZER}).digest
    told = {"format": FORMAT, "version": VERSION, "digest": digest, "model": header}
    texts = {"config.json": {**gpt2.configuration(file, sizes), "krohn": told}}
    texts |= library
    save_file(stored, directory / "model.safetensors", {"format": "pt"})
    for name, content in texts.items():
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (directory / name).write_text(text + "\n", "utf-8")
    circuit.write(file, directory)


def _library(file: ModelFile, states: bool) -> dict[str, Any]:
    """The files of the tokenizer, and what the library does by default."""
    found, machine = labels(file, states), file.header["machine"]
    try:
        if states and outputs_of_states(machine) is not None:
            raise ExportError(
                "a GPT-2 has tokens that name outputs and states; leave --states out"
            )
        called = tokens(machine, outputs=not found.states)
        letters, positions = (
            len(found.letters),
            file.header["architecture"]["positions"],
        )
        return library_files(called, letters, positions)
    except Refused as refused:
        raise ExportError(f"no tokenizer can be made: {refused}") from None


def open_logits(directory: Path) -> "Callable[[Tensor], Tensor]":
    """Letters to logits of the states, by Hugging Face's library and nothing else.

    Args:
        directory: What `write` wrote.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from krohn.network.exports.huggingface import silent

    with silent():
        model = AutoModelForCausalLM.from_pretrained(directory)
    bos = model.config.bos_token_id

    @torch.inference_mode()
    def logits(letters: "Tensor") -> "Tensor":
        front = letters.new_full((len(letters), 1), bos)
        tokens = torch.cat([front, letters], dim=1)
        found = model(tokens, attention_mask=torch.ones_like(tokens)).logits
        return torch.as_tensor(found[:, 1:, bos + 1 :])

    return logits
