"""Attacks on the proof of a generator: outputs are close to the law."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.network.generator import Generator
from krohn.network.modelfile import ModelFile
from krohn.network.precision import BoolArray
from krohn.verify.attack.evolutionary_search import EvolutionarySearch
from krohn.verify.attack.worst_seen import Batch, Record
from krohn.verify.testing.bracket_words import claimed_law, laws_of

AT_ONCE = 1024
BATCHES = (1024, 1, 7, 64)


@dataclass(frozen=True)
class Target:
    """A generator, its stacks, and how far its outputs may be from the law.

    Attributes:
        file: The network.
        machine: The stacks.
        error: What the proof established.
        length: How long words are.
    """

    file: ModelFile
    machine: Automaton
    error: float
    length: int


def rounds(target: Target, rng: np.random.Generator, record: Record) -> Iterator[None]:
    """Run batch after batch of legal prefixes, without end, by sizes in turn."""
    net = Generator(target.file)
    table = laws_of(claimed_law(target.file, target.machine)[0])
    laws, legal = torch.from_numpy(table), table > 0
    # The laws and the error itself are rounded to float64.
    bound = torch.tensor([target.error + 2.0**-53], dtype=torch.float64)
    breeding = EvolutionarySearch(target.machine, target.length, rng)
    while True:
        for most in BATCHES:
            genes = breeding.words(min(AT_ONCE, 16 * most))
            words, states = legal_words(target.machine, legal, genes.numpy())
            batch = Batch(torch.from_numpy(words), f"batches of {most}", record)
            with torch.inference_mode():
                said = torch.cat([net(part) for part in torch.split(batch.words, most)])
            off = (said.double() - laws[torch.from_numpy(states)]).abs()
            keys = [("generator: law", "", -1)] * off.shape[2]
            breeding.learn(genes, batch.judge(keys, off, bound))
            record.numbers["generator: law"] += off.numel()
            record.ways[batch.way] += words.size
            yield


def legal_words(
    machine: Automaton, legal: BoolArray, genes: IntArray
) -> tuple[IntArray, IntArray]:
    """Words that are legal prefixes, each letter the one that a gene chooses.

    Args:
        machine: The stacks.
        legal: ``(states, letters)``: the letters that may come next.
        genes: ``(batch, time)`` whole numbers.

    Returns:
        ``(batch, time)`` letters, and ``(batch, time + 1)`` states before each letter and
        at the end.
    """
    # The letters of a state that are legal come first, in their order.
    first = np.argsort(~legal, axis=1, kind="stable")
    some = legal.sum(axis=1)
    words = np.empty_like(genes)
    states = np.full((len(genes), genes.shape[1] + 1), machine.start)
    for t in range(genes.shape[1]):
        here = states[:, t]
        words[:, t] = first[here, genes[:, t] % some[here]]
        states[:, t + 1] = machine.transitions[words[:, t], here]
    return words, states
