"""A directory that Hugging Face's library opens as a GPT-2, and Krohn as a proof.

``model.safetensors``; ``config.json``, which says what the network computes, too, where
`save_pretrained` keeps it; and a tokenizer of letters and answers by name.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save_file

from network.exports import circuit, gpt2
from network.exports.labels import labels
from network.exports.letter_tokenizer import tokenizer_files
from network.modelfile import ModelFile

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
        states: Whether states are called by their names, though the machine has outputs.
        activation: Of all units.

    Raises:
        ExportError: If the network has what GPT-2 lacks.
    """
    sizes = gpt2.plan(file, activation)
    stored = {
        name: np.ascontiguousarray(file.precision.store(tensor))
        for name, tensor in gpt2.tensors(file, sizes).items()
    }
    positions = file.header["architecture"]["positions"]
    header = {key: value for key, value in file.header.items() if key != "evidence"}
    told = {"format": FORMAT, "version": VERSION, "model": header}
    texts = {
        "config.json": {**gpt2.configuration(file, sizes), "krohn": told},
        "generation_config.json": {"do_sample": False, "max_new_tokens": 1},
        **tokenizer_files(labels(file, states), positions),
    }
    save_file(stored, directory / "model.safetensors", {"format": "pt"})
    for name, content in texts.items():
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (directory / name).write_text(text + "\n", "utf-8")
    circuit.write(file, directory)


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
        tokens = torch.cat([front, letters], dim=1)
        found = model(tokens, attention_mask=torch.ones_like(tokens)).logits
        return torch.as_tensor(found[:, 1:, bos + 1 :])

    return logits
