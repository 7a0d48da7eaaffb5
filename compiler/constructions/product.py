"""The direct product: factors of a machine side by side (Lemma 17)."""

from algebra.automaton import Automaton
from algebra.operations import reachable
from algebra.structure import Factor, as_counter, as_memory, parallel_factors
from compiler.constructions import counter, memory
from compiler.errors import CompileError
from compiler.program import Operation, Program, Token

NAME = "product"
SUMMARY = "run counters and memories side by side in one layer (Lemma 17)"


def product(machine: Automaton, length: int) -> Program:
    """The product of a machine's quotients, each a counter or a memory.

    The quotients are found from congruences of the machine, so every abelian group and
    every product of flip-flops is served, however its states are named. The machine need
    only be a *sub*-machine of the product: the read-out knows the reachable tuples.

    Raises:
        CompileError: If the machine has no such quotients.
    """
    factors = parallel_factors(machine)
    if factors is None:
        raise CompileError(
            f"{machine.name} is not a product of smaller machines on the same letters"
        )
    operations: dict[str, Operation] = {"token": Token()}
    outputs = []
    for i, factor in enumerate(factors):
        channels, output = _component(factor, machine, length, f"factor{i}.")
        operations |= channels
        outputs.append(output)
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=tuple(outputs),
        decode=_decode(machine, factors),
    )


def _component(
    factor: Factor, machine: Automaton, length: int, prefix: str
) -> tuple[dict[str, Operation], str]:
    count = as_counter(factor.machine)
    if count is not None:
        channels = counter.channels(count, factor.machine, length, prefix)
        return dict(channels), f"{prefix}count"
    stored = as_memory(factor.machine)
    if stored is not None:
        return dict(memory.channels(stored, factor.machine, prefix)), f"{prefix}stored"
    raise CompileError(
        f"{machine.name} is a product, but a factor with "
        f"{len(factor.machine.states)} states is neither a counter nor a memory"
    )


def _decode(
    machine: Automaton, factors: tuple[Factor, ...]
) -> dict[tuple[int, ...], int]:
    labels = []
    for factor in factors:
        count = as_counter(factor.machine)
        label = count.labels if count else range(len(factor.machine.states))
        labels.append([label[block] for block in factor.block])
    alive = set(reachable(machine).states)
    return {
        tuple(column[q] for column in labels): q
        for q, name in enumerate(machine.states)
        if name in alive
    }
