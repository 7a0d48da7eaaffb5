"""Networks that are trained to hold known variables: interchange intervention training.

A proved network is spoiled by noise until it answers wrongly. Then it is trained to answer
rightly, and to answer as its Program predicts where a variable is given its value in
another word (Geiger et al. 2022; InterpBench, Gupta et al. 2024, makes its networks so).
Where variables lie is known then as well as the training went, and nothing is proved.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from krohn.architectures.exports.circuit import (
    READ_OUT,
    Variable,
    circuit,
    writer,
)
from krohn.instruments.workbench.answers import held_at
from krohn.instruments.workbench.directions import CODES
from krohn.instruments.workbench.edge_patching import (
    Components,
    Written,
)
from krohn.network.directions import directions
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model
from krohn.program.domains import IntArray
from krohn.program.interpreter import interpret
from krohn.program.intervention import predict
from krohn.program.statement import Statement

STEPS, BATCH = 200, 32
NOISE = 0.03
"""Of a weight, as a multiple of the root mean square of its tensor."""
RATE = 0.005
"""Of Adam, as a multiple of the same."""


@dataclass(frozen=True)
class Swap:
    """A variable that is exchanged: who writes it, and along which directions.

    Attributes:
        writer: The component.
        onto: ``(d, d)``: takes of what it writes the part that is the variable.
    """

    writer: str
    onto: Tensor


def swaps(file: ModelFile) -> dict[str, Swap]:
    """Of each variable that is stored as whole numbers, how it is exchanged."""
    along, by_variable = directions(file), {}
    d = file.architecture.d_model
    places = Model(file).places()
    for variable in circuit(file)["variables"]:
        if variable["code"] not in CODES:
            continue
        name, span = variable["variable"], variable["dims"]
        if along is None:
            onto = np.diag(np.isin(np.arange(d), np.arange(*span)).astype(float))
        else:
            born = places[name].snapshots[0]
            onto = along.reads(span, born) @ along.writes(span)
        by_variable[name] = Swap(writer(Variable(**variable)), torch.from_numpy(onto))
    return by_variable


class Interchange:
    """Runs in which a variable has, at one position, its value in another word."""

    def __init__(self, file: ModelFile, program: Statement) -> None:
        self.network, self.program = Components(file), program
        self.swaps = swaps(file)

    def predict_answers(
        self, name: str, words: IntArray, others: IntArray, at: IntArray
    ) -> IntArray:
        """``(batch, length)``: the right answers, −1 where the Program has none."""
        given = interpret(self.program, others)[name][np.arange(len(words)), at]
        patch = held_at(at, given, words.shape[1])
        return predict(self.program, words, {name: patch}).answers

    def logits(
        self, swap: Swap, words: IntArray, clean: Written, other: Written, at: IntArray
    ) -> Tensor:
        """``(batch, length, classes)``: what the network says then."""
        moved = torch.zeros_like(clean[swap.writer])
        each = torch.arange(len(words))
        difference = (other[swap.writer] - clean[swap.writer])[each, at]
        moved[each, at] = difference @ swap.onto
        change = {edge: moved for edge in self.network.edges if edge[0] == swap.writer}
        return self.network.run(words, change)[READ_OUT][:, 1:]


def train_network(
    file: ModelFile,
    program: Statement,
    words: IntArray,
    rng: np.random.Generator,
    steps: int = STEPS,
) -> ModelFile:
    """A network of the same shape that was spoiled and trained.

    Args:
        file: A proved network.
        program: Its Program.
        words: ``(count, length)``, from which the training words are drawn.
        rng: Draws noise, words, variables and positions.
        steps: How often weights are changed.
    """
    both = Interchange(file, program)
    start, network = dict(both.network.tensors), both.network
    sizes = {n: t.square().mean().sqrt() for n, t in start.items()}
    free = {
        n: torch.from_numpy(rng.normal(size=t.shape)).mul_(NOISE).requires_grad_()
        for n, t in start.items()
    }
    optimiser = torch.optim.Adam(free.values(), lr=RATE)
    plan = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    others, at = rng.permutation(words), rng.integers(1, words.shape[1] + 1, len(words))
    right = predict(program, words, {}).answers
    wanted = {n: both.predict_answers(n, words, others, at) for n in both.swaps}
    for _ in range(steps):
        network.tensors |= {n: start[n] + sizes[n] * free[n] for n in start}
        rows = rng.integers(len(words), size=BATCH)
        name = list(wanted)[int(rng.integers(len(wanted)))]
        clean, other = network.run(words[rows]), network.run(others[rows])
        changed = both.logits(both.swaps[name], words[rows], clean, other, at[rows])
        loss = _loss(clean[READ_OUT][:, 1:], right[rows])
        loss = loss + _loss(changed, wanted[name][rows])
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        plan.step()
    tensors = {n: t.detach().numpy() for n, t in network.tensors.items()}
    header = {k: v for k, v in file.header.items() if k != "evidence"}
    return replace(file, header=header, tensors={**file.tensors, **tensors})


def _loss(logits: Tensor, right: IntArray) -> Tensor:
    wanted = torch.from_numpy(right).flatten()
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), wanted, ignore_index=-1
    )
