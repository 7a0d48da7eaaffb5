"""Diagonal state space models of a machine: a layer for each component of a cascade.

Every layer is a linear recurrence h_t = a ⊙ h_{t−1} + b(letter). A table of the letter and
of h_{t−1}, before the letter, says the letter of the next layer. So layers are what the
components of a cascade are (Krohn and Rhodes 1965). docs/proofs/state_space.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.cascade import Cascade
from krohn.algebra.minimisation import output_classes, reachable
from krohn.algebra.structure import Counter, Memory, as_counter, as_memory
from krohn.architectures.state_space.build_components import (
    Affine,
    Held,
    Layer,
    Sum,
    flips,
    latches,
    switches,
    table,
)
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, machine_of_states
from krohn.compiler.constructions.cascade import find_cascade
from krohn.compiler.transformer import Network
from krohn.network.precision import Precision

ROUNDING, SIGNS, SELECTIVE = "rounding", "signs", "selective"
"""The forms: decays are the same for all letters, or (`SELECTIVE`) a letter chooses."""
FORMS = {
    ROUNDING: "one decay for all letters; memories are held by rounding",
    SELECTIVE: "letters choose the decay, 0, 1 or −1 (Mamba)",
    SIGNS: "one decay; a memory of two states is a sign, as over the reals",
}
METHODS = {ROUNDING: "auto", SIGNS: "auto", SELECTIVE: "prime"}
"""How machines are decomposed: parities can be turned by a decay, other counters not."""
MOST_COORDINATES = 50_000
DIGITS = 5
"""Letters whose signs fit into a number: 3^5 beginnings of a significand at most."""

Symbol = tuple[int, int]
"""A node of the wiring, and one of the projection."""
Rows = dict[tuple[Symbol, int], Symbol]
"""From a symbol and a state before to the symbol of the next layer."""
Part = Memory | Counter


@dataclass(frozen=True, eq=False)
class Parts:
    """A machine, taken apart for one form.

    Attributes:
        machine: Its reachable part.
        cascade: What covers it.
        parts: What each component is.
        start: ``(components,)``: the coordinates of the start state.
    """

    machine: Automaton
    cascade: Cascade
    parts: tuple[Part, ...]
    start: tuple[int, ...]

    @classmethod
    def of(cls, machine: Automaton, form: str) -> "Parts":
        """Take a machine apart.

        Raises:
            CompileError: If a component is no memory and no counter, or the form does not
                serve.
        """
        alive = reachable(machine)
        cascade = find_cascade(alive, METHODS[form])
        start = tuple(cascade.lift[alive.start].tolist())
        alone = (
            Automaton(c.machine, start=q)
            for c, q in zip(cascade.components, start, strict=True)
        )
        parts = tuple(_part(each, machine.name) for each in alone)
        whole = cls(alive, cascade, parts, start)
        if form == SIGNS and not whole.one_bit:
            raise CompileError(
                f"a sign remembers one of two states, and {machine.name} is not such "
                f"a memory; use --construction {ROUNDING}"
            )
        return whole

    @property
    def one_bit(self) -> bool:
        """Whether it is a memory of two states."""
        sizes = [len(self.machine.states), *(c.size for c in self.cascade.components)]
        return sizes == [2, 2] and isinstance(self.parts[0], Memory)

    def adding_counters(self, form: str) -> list[Counter]:
        """The counters whose increments are added up, which limits the length."""
        counters = (part for part in self.parts if isinstance(part, Counter))
        return [part for part in counters if not _turns(part, form)]

    def longest(self, form: str, precision: Precision) -> int | None:
        """The longest words for which the form is right; None if there is no limit."""
        if form == SIGNS:
            return _idle(precision) + 1
        return min(
            (Sum(c, precision).longest for c in self.adding_counters(form)),
            default=None,
        )


def _part(alone: Automaton, name: str) -> Part:
    part = as_memory(alone) or as_counter(alone)
    if part is None:
        raise CompileError(
            f"{name} has a component of {len(alone.states)} states with a group that is "
            "not solvable: no diagonal recurrence of Krohn holds it; take --arch rnn"
        )
    return part


def _turns(counter: Counter, form: str) -> bool:
    """Whether a decay of −1 counts: each letter's own, or one for all letters alike."""
    every = form == SELECTIVE or all(step == 1 for step in counter.increments)
    return counter.modulus == 2 and every


def ssm(
    machine: Automaton, length: int | None, form: str, precision: Precision
) -> Network:
    """The diagonal state space model of a machine.

    Args:
        machine: What it computes: its outputs if it has any, else its states.
        length: T; None for every length.
        form: One of `FORMS`.
        precision: The format. Beyond `Parts.longest` the network is wrong.

    Raises:
        CompileError: If the form does not serve, or not at every length.
    """
    taken = Parts.of(machine, form)
    if length is None and (most := taken.longest(form, precision)) is not None:
        raise CompileError(
            f"{machine.name} can be held up to a length only; say the length by -T, "
            f"in {precision.name} at most {most:,}"
        )
    shape = {"vocabulary": len(machine.letters), "selective": form == SELECTIVE}
    head = {"kind": "ssm", "dtype": precision.name, **shape}
    classes = output_classes(machine, "outputs" if machine.output else "states")
    number = {q: i for i, q in enumerate(machine.states)}
    of = [int(classes.of[number[q]]) for q in taken.machine.states]
    if form == SIGNS:
        layers = [_sign(taken, of, len(classes.names), precision)]
    else:
        layers = _layers(
            taken,
            of,
            len(classes.names),
            partial(_in_coordinates, form, length or 1, precision),
        )
    tensors = {
        f"layers.{i}.{name}": value
        for i, layer in enumerate(layers)
        for name, value in layer.tensors(form == SELECTIVE).items()
    }
    sizes = {"outputs": len(classes.names), "layers": [x.shape() for x in layers]}
    return Network({**head, **sizes}, tensors, {})


Holder = Callable[[Part, int, int], Held]
"""From a component, its size and its start state to how it is held."""


def _in_coordinates(
    form: str, length: int, precision: Precision, part: Part, size: int, start: int
) -> Held:
    if isinstance(part, Memory):
        if form == SELECTIVE:
            return switches(part, size, start)
        return latches(part, size, start, precision)
    if _turns(part, form):
        return flips(part)
    return Sum(part, precision).in_one_coordinate(length, start)


def _layers(taken: Parts, of: list[int], outputs: int, holder: Holder) -> list[Layer]:
    """A layer for each component; at least one, which may have nothing to remember.

    Args:
        taken: The machine.
        of: The class of each of its states.
        outputs: How many classes there are.
        holder: How components are held.
    """
    cascade = taken.cascade
    symbols: list[Symbol] = [(int(n), 0) for n in cascade.wiring.entry]
    if not taken.parts:
        none = Memory((None,) * len(symbols))
        rows = {(i, 0): of[0] for i in range(len(symbols))}
        representation = holder(none, 1, 0)
        return [
            Layer(
                representation,
                table(len(symbols), representation.patterns, rows, outputs),
            )
        ]
    layers, last, transitions = list[Layer](), len(taken.parts) - 1, _occurring(taken)
    for i, part in enumerate(taken.parts):
        after = sorted(set(transitions[i].values()))
        number = {symbol: j for j, symbol in enumerate(after)}
        if i == last:
            number, width = {(w, p): of[p] for w, p in after}, outputs
        else:
            width = len(after)
        rows = {
            (s, q): number[transitions[i][symbol, q]]
            for s, symbol in enumerate(symbols)
            for q in range(cascade.components[i].size)
            if (symbol, q) in transitions[i]
        }
        size = cascade.components[i].size
        representation = holder(part, size, taken.start[i])
        emitted = cascade.wiring.emit[i][[w for w, _ in symbols]]
        representation = representation._replace(
            decay=representation.decay[emitted], addend=representation.addend[emitted]
        )
        layers.append(
            Layer(
                representation,
                table(len(symbols), representation.patterns, rows, width),
            )
        )
        symbols = after
    return layers


def _occurring(taken: Parts) -> list[Rows]:
    """The transitions of each component that occur, by symbol and state before.

    Raises:
        CompileError: If there are too many joint states to visit.
    """
    cascade, transitions = taken.cascade, [Rows() for _ in taken.parts]
    now = np.array([taken.start])
    seen = {now.tobytes()}
    while len(now):
        letters = len(cascade.letters)
        w = np.tile(cascade.wiring.entry, len(now))
        before, after = now.repeat(letters, axis=0), list[IntArray]()
        p = np.zeros_like(w)
        for i, component in enumerate(cascade.components):
            q = before[:, i]
            to = component.machine.transitions[cascade.wiring.emit[i][w], q]
            follow, project = (
                x.follow[i] for x in (cascade.wiring, cascade.projection)
            )
            w2, p2 = follow[w, q], project[p, to]
            for symbol in np.unique(
                np.stack([w, p, q, w2, p2], axis=1), axis=0
            ).tolist():
                transitions[i][(symbol[0], symbol[1]), symbol[2]] = (
                    symbol[3],
                    symbol[4],
                )
            after.append(to)
            w, p = w2, p2
        joint = np.unique(np.stack(after, axis=1), axis=0)
        now = joint[[row.tobytes() not in seen for row in joint]]
        seen.update(row.tobytes() for row in now)
        if len(seen) > MOST_COORDINATES:
            raise CompileError(
                f"its components have more than {MOST_COORDINATES:,} states together; "
                "take --arch rnn"
            )
    return transitions


def _shrinks(precision: Precision) -> int:
    """k: the sign's decay is 2^-k, so that few letters fit into the format's digits."""
    return -(-precision.digits // DIGITS)


def _idle(precision: Precision) -> int:
    return int(-np.log2(precision.smallest)) // _shrinks(precision)


def _sign(taken: Parts, of: list[int], outputs: int, precision: Precision) -> Layer:
    """By 2^-k·h ± 1: over the reals the sign is the value written last (Theorem D4)."""
    (part,), follow = taken.parts, taken.cascade.projection.follow[0][0]
    assert isinstance(part, Memory)
    emitted = taken.cascade.wiring.emit[0][taken.cascade.wiring.entry]
    writes = [part.writes[e] for e in emitted]
    sign = np.array([0.0 if q is None else 2.0 * q - 1 for q in writes])[:, None]
    decay = np.full(sign.shape, 2.0 ** -_shrinks(precision))
    start = np.full(1, 2.0 * taken.start[0] - 1)
    decode = [Affine(np.array([[-1.0, 1.0]]), np.zeros(2))]
    representation = Held(start, decay, sign, decode, np.eye(2))
    letters = len(writes)
    inner, outer = (
        np.zeros((letters + 2, letters + 2)),
        np.zeros((letters + 2, outputs)),
    )
    inner[letters:, letters:] = np.eye(2)
    for s, q in enumerate(writes):
        inner[s, s], inner[s, letters:] = 1, 0.0 if q is None else -2.0
        if q is not None:
            outer[s, of[follow[q]]] = 1
    for q in range(2):
        outer[letters + q, of[follow[q]]] = 1
    return Layer(
        representation,
        (Affine(inner, np.zeros(letters + 2)), Affine(outer, np.zeros(outputs))),
    )


def compile_ssm(
    machine: Automaton, length: int | None, form: str, precision: Precision
) -> CompiledNetwork:
    """The diagonal state space model of a machine.

    Args:
        machine: The machine to compute: its outputs if it has any, else its states.
        length: T; None for words of every length.
        form: A key of `FORMS`.
        precision: The number format.

    Raises:
        CompileError: If that cannot be done; the message says what to do.
    """
    network = ssm(machine_of_states(machine), length, form, precision)
    return CompiledNetwork(form, network, {}, None)
