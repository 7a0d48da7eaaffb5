"""The direct product: factors of a machine side by side (Lemma 17)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import (
    Factor,
    as_corridor,
    as_counter,
    as_memory,
    parallel_factors,
)
from krohn.compiler.constructions import corridor, counter, memory
from krohn.compiler.errors import CompileError
from krohn.program import Operation, Program, Row, Token

NAME = "product"
SUMMARY = "run counters, memories and gridworlds side by side (Lemma 17)"


@dataclass(frozen=True)
class Component:
    """A factor as a part of a Program.

    Attributes:
        operations: Its channels.
        outputs: The channels that say its state.
        codes: The values of its outputs for each of its states.
    """

    operations: Mapping[str, Operation]
    outputs: tuple[str, ...]
    codes: list[Row]


def product(machine: Automaton, length: int) -> Program:
    """The product of a machine's quotients, each a counter, a memory or a gridworld.

    The quotients are found from congruences of the machine, so every abelian group,
    every product of flip-flops and every gridworld of several dimensions is served,
    however its states are named. The machine need only be a *sub*-machine of the
    product: the read-out knows the reachable tuples.

    Raises:
        CompileError: If the machine has no such quotients.
    """
    factors = parallel_factors(machine)
    if factors is None:
        raise CompileError(
            f"{machine.name} is not a product of smaller machines on the same letters"
        )
    components = [
        _component(factor, machine, length, f"factor{i}.")
        for i, factor in enumerate(factors)
    ]
    operations: dict[str, Operation] = {"token": Token()}
    for component in components:
        operations |= component.operations
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=tuple(name for c in components for name in c.outputs),
        decode=_decode(machine, factors, components),
    )


def _component(
    factor: Factor, machine: Automaton, length: int, prefix: str
) -> Component:
    for make in _KINDS:
        found = make(factor.machine, length, prefix)
        if found is not None:
            return found
    raise CompileError(
        f"{machine.name} is a product, but a factor with {len(factor.machine.states)} "
        "states is neither a counter nor a memory nor a gridworld"
    )


def _counter(machine: Automaton, length: int, prefix: str) -> Component | None:
    found = as_counter(machine)
    if found is None:
        return None
    channels = counter.channels(found, machine, length, prefix)
    return Component(channels, (f"{prefix}count",), [(c,) for c in found.labels])


def _memory(machine: Automaton, length: int, prefix: str) -> Component | None:
    found = as_memory(machine)
    if found is None:
        return None
    channels = memory.channels(found, machine, prefix)
    codes: list[Row] = [(q,) for q in range(len(machine.states))]
    return Component(channels, (f"{prefix}stored",), codes)


def _gridworld(machine: Automaton, length: int, prefix: str) -> Component | None:
    found = as_corridor(machine)
    if found is None:
        return None
    channels = corridor.channels(found, machine, length, prefix)
    codes: list[Row] = [(cell,) for cell in found.cell]
    return Component(channels, (f"{prefix}cell",), codes)


_KINDS: tuple[Callable[[Automaton, int, str], Component | None], ...] = (
    _counter,
    _memory,
    _gridworld,
)


def _decode(
    machine: Automaton, factors: tuple[Factor, ...], components: list[Component]
) -> dict[Row, int]:
    alive = set(reachable(machine).states)
    pairs = list(zip(factors, components, strict=True))
    return {
        tuple(v for f, c in pairs for v in c.codes[f.block[q]]): q
        for q, name in enumerate(machine.states)
        if name in alive
    }
