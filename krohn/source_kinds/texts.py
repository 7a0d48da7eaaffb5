"""Texts of dynamic programs as networks write them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from krohn.network.modelfile import ModelFile
from krohn.program.chain_of_thought import ChainOfThought
from krohn.program.domains import IntArray
from krohn.progress import Progress
from krohn.verify.testing.simulation_result import Simulation

BATCH = 256


def unnamed(source: ChainOfThought) -> list[str]:
    """Names of tokens that have none of their own."""
    return [f"place {t + 1}" for t in range(source.length)]


def told(
    source: ChainOfThought, called: Sequence[str], text: IntArray
) -> dict[str, Any]:
    """A whole text, token by token; −1 is no answer."""
    names = [source.tokens[i] if i >= 0 else "(no answer)" for i in text]
    called = called or unnamed(source)
    start = len(source.prompt)
    steps = []
    for t, step in enumerate(source.steps, start):
        places = [read.place for read in step.reads if read.place]
        reads = {called[p - 1]: names[p - 1] for p in places}
        steps.append({"token": names[t], "is": called[t], "reads": reads})
    return {
        "prompt": names[:start],
        "text": names[start:],
        "answer": names[source.answer - 1],
        "steps": steps,
        "shown": " ".join(names),
    }


def decoded(file: ModelFile, source: ChainOfThought, prompts: IntArray) -> IntArray:
    """``(batch, length)``: what the network writes; −1 where it gives no answer.

    Args:
        file: The network.
        source: What its texts are.
        prompts: ``(batch, prompt)`` tokens; all are continued together.
    """
    import torch

    from krohn.network.decoding import BLANK, decode
    from krohn.network.model import Model
    from krohn.network.transformer import Transformer

    network = Model(file).network
    assert isinstance(network, Transformer)
    blank = np.full((len(prompts), len(source.steps)), BLANK)
    with torch.no_grad():
        text = decode(network, torch.from_numpy(np.hstack([prompts, blank])))
    return np.asarray(text.numpy())


def simulated(
    file: ModelFile,
    source: ChainOfThought,
    prompts: IntArray,
    progress: Progress,
    every: bool = False,
) -> Simulation:
    """Hold what the network writes against the reference, in batches."""
    from krohn.verify.testing.counterexample import Counterexample

    for at in range(0, len(prompts), BATCH):
        batch = prompts[at : at + BATCH]
        wanted, found = source.continued(batch), decoded(file, source, batch)
        progress("running prompts", at, len(prompts))
        for row in np.flatnonzero((wanted != found).any(axis=1))[:1].tolist():
            names = [*source.tokens, "(no answer)"]
            right, said = (tuple(names[i] for i in x[row]) for x in (wanted, found))
            wrong = Counterexample(right[:-1], right[1:], said[1:], "letter by letter")
            return Simulation(at + row + 1, source.length, wrong)
    return Simulation(len(prompts), source.length, None, every=every)
