"""The definitions, word by word and element by element, for small machines."""

import sys
from itertools import product
from types import ModuleType

import numpy as np
import pytest

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.classification import Property
from krohn.algebra.classification.properties import act
from krohn.algebra.groups.permutation_group import PermutationGroup

Row = tuple[int, ...]


def machine_of(table: object) -> Semiautomaton:
    rows = np.array(table)
    letters = tuple(f"a{i}" for i in range(rows.shape[0]))
    return Semiautomaton(rows, letters, tuple(f"q{i}" for i in range(rows.shape[1])))


def random_machine(rng: np.random.Generator, most: int = 4) -> Semiautomaton:
    n, letters = rng.integers(2, most + 1), rng.integers(1, 4)
    return machine_of(rng.integers(n, size=(letters, n)))


def random_ordered_machine(rng: np.random.Generator) -> Semiautomaton:
    """Letters that never lead back, for properties that random machines lack."""
    n, letters = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    return machine_of([[rng.integers(q, n) for q in range(n)] for _ in range(letters)])


def after(x: Row, y: Row) -> Row:
    """x, then y."""
    return tuple(y[q] for q in x)


def semigroup(machine: Semiautomaton) -> set[Row]:
    """T(A): the maps of all non-empty words."""
    letters = {tuple(row) for row in machine.transitions.tolist()}
    found, queue = set(letters), list(letters)
    for x in queue:
        for a in letters:
            y = after(x, a)
            if y not in found:
                found.add(y)
                queue.append(y)
    return found


def subgroups(found: set[Row]) -> list[PermutationGroup]:
    """The maximal subgroup at every idempotent, as permutations of its image."""
    groups = []
    for e in found:
        if after(e, e) != e:
            continue
        image = sorted(set(e))
        local = {after(after(e, s), e) for s in found}
        inside = [[s[q] for q in image] for s in local if set(s) == set(image)]
        groups.append(PermutationGroup(np.searchsorted(image, inside)))
    return groups


def ideal(found: set[Row], x: Row, left: bool) -> frozenset[Row]:
    products = {after(s, x) if left else after(x, s) for s in found}
    return frozenset(products | {x})


def two_sided(found: set[Row], x: Row) -> frozenset[Row]:
    right = ideal(found, x, left=False)
    return frozenset(y for z in right for y in ideal(found, z, left=True))


def distinct(found: set[Row], classes: list[frozenset[Row]]) -> bool:
    return len(set(classes)) == len(found)


def local_monoids(found: set[Row]) -> list[set[Row]]:
    idempotents = [e for e in found if after(e, e) == e]
    return [{after(after(e, s), e) for s in found} for e in idempotents]


def is_semilattice(elements: set[Row]) -> bool:
    idempotent = all(after(x, x) == x for x in elements)
    return idempotent and all(
        after(x, y) == after(y, x) for x, y in product(elements, repeat=2)
    )


def is_regular(found: set[Row], x: Row) -> bool:
    return any(after(after(x, y), x) == x for y in found)


def maps_of_length(machine: Semiautomaton, length: int) -> set[Row]:
    maps = {tuple(range(len(machine.states)))}
    for _ in range(length):
        rows = machine.transitions.tolist()
        maps = {after(x, tuple(row)) for x in maps for row in rows}
    return maps


def definition(machine: Semiautomaton) -> dict[str, bool]:
    """Every property by its definition."""
    found, n = semigroup(machine), len(machine.states)
    rows = [tuple(row) for row in machine.transitions.tolist()]
    identity = tuple(range(n))
    groups = subgroups(found)
    long_words = maps_of_length(machine, n * n)
    return {
        "permutation": all(len(set(a)) == n for a in rows),
        "permutation-reset": all(len(set(a)) in (1, n) for a in rows),
        "memory": all(a == identity or len(set(a)) == 1 for a in rows),
        "commutative": all(after(x, y) == after(y, x) for x in found for y in found),
        "transitive": all(
            any(x[p] == q for x in found) or p == q
            for p, q in product(range(n), repeat=2)
        ),
        "synchronising": any(len(set(x)) == 1 for x in found | {identity}),
        "nilpotent": len(long_words) == 1
        and all(after(z, a) == z == after(a, z) for z in long_words for a in rows),
        "definite": all(len(set(x)) == 1 for x in long_words),
        "reverse definite": all(after(x, a) == x for x in long_words for a in rows),
        "generalised definite": all(len(m) == 1 for m in local_monoids(found)),
        "locally testable": all(map(is_semilattice, local_monoids(found))),
        "idempotent": all(after(x, x) == x for x in found),
        "R-trivial": distinct(found, [ideal(found, x, left=False) for x in found]),
        "L-trivial": distinct(found, [ideal(found, x, left=True) for x in found]),
        "J-trivial": distinct(found, [two_sided(found, x) for x in found]),
        "DA": all(after(x, x) == x for x in found if is_regular(found, x)),
        "aperiodic": all(group.order == 1 for group in groups),
        "solvable": all(group.is_solvable for group in groups),
    }


class Witnesses:
    """Checks what a refutation shows, letter by letter."""

    def __init__(self, machine: Semiautomaton) -> None:
        self.machine = machine

    def map(self, word: list[str]) -> IntArray:
        return act(self.machine, self.machine.encode(word))

    def states(self, names: list[str]) -> list[int]:
        return [self.machine.states.index(name) for name in names]

    def reached(self, found: set) -> set:
        """The states, or sets of states, that words lead to."""
        rows, queue = self.machine.transitions.tolist(), list(found)
        for at in queue:
            for row in rows:
                sets = isinstance(at, frozenset)
                then = frozenset(row[q] for q in at) if sets else row[at]
                if then not in found:
                    found.add(then)
                    queue.append(then)
        return found

    def go(self, state: str, word: list[str]) -> str:
        return self.machine.states[self.map(word)[self.states([state])[0]]]

    def check(self, found: Property) -> None:
        """Fail unless the witness shows that the property does not hold."""
        assert found.witness is not None
        kind = tuple(sorted(found.witness))
        getattr(self, "_" + "_".join(kind).replace(" ", "_"))(found.witness)

    def _states_word(self, w: dict) -> None:
        after = self.map(w["word"])
        image, states = set(after.tolist()), self.states(w["states"])
        merged = len(states) == 2 and after[states[0]] == after[states[1]]
        assert merged or image == set(states)
        assert len(image) < len(self.machine.states)

    def _word(self, w: dict) -> None:
        x = self.map(w["word"])
        memory = np.array_equal(x, np.arange(len(x))) or len(set(x.tolist())) == 1
        assert not np.array_equal(x[x], x) or not memory

    def _ends_state_words(self, w: dict) -> None:
        ends = [self.go(w["state"], word) for word in w["words"]]
        assert ends == w["ends"]
        assert ends[0] != ends[1]

    def _from_to(self, w: dict) -> None:
        source, target = self.states([w["from"], w["to"]])
        assert target not in self.reached({source})

    def _states_words(self, w: dict) -> None:
        assert self.go(w["states"][0], w["words"][0]) == w["states"][1]
        assert self.go(w["states"][1], w["words"][1]) == w["states"][0]
        assert w["states"][0] != w["states"][1]

    def _kept_by_left_by_state(self, w: dict) -> None:
        assert w["kept by"]
        assert self.go(w["state"], w["kept by"]) == w["state"]
        assert self.go(w["state"], w["left by"]) != w["state"]

    def _kept_by_states(self, w: dict) -> None:
        assert w["kept by"]
        assert w["states"][0] != w["states"][1]
        for state in w["states"]:
            assert self.go(state, w["kept by"]) == state

    def _kept_by_path_states(self, w: dict) -> None:
        self._kept_by_states(w)
        assert self.go(w["states"][0], w["path"]) == w["states"][1]

    def _states(self, w: dict) -> None:
        assert all(
            len(pair) == 2
            for pair in self.reached({frozenset(self.states(w["states"]))})
        )

    def _left_words(self, w: dict) -> None:
        x, y = (self.map(word) for word in w["words"])
        there, back = (self.map(word) for word in w["left"])
        assert not np.array_equal(x, y)
        assert np.array_equal(x[there], y)
        assert np.array_equal(y[back], x)

    def _x_y(self, w: dict) -> None:
        x, y = self.map(w["x"]), self.map(w["y"])
        assert np.array_equal(x[y[x]], x)
        assert not np.array_equal(x[x], x)

    def _e_x(self, w: dict) -> None:
        e, x = self.map(w["e"]), self.map(w["x"])
        assert w["e"]
        assert np.array_equal(e[e], e)
        assert np.array_equal(x[e], x)
        assert np.array_equal(e[x], x)
        assert not np.array_equal(x[x], x)

    def _e_x_y(self, w: dict) -> None:
        e, x, y = (self.map(w[key]) for key in ("e", "x", "y"))
        assert w["e"]
        assert np.array_equal(e[e], e)
        for z in (x, y):
            assert np.array_equal(z[e], z)
            assert np.array_equal(e[z], z)
        assert not np.array_equal(x[y], y[x])

    def _order_states_word(self, w: dict) -> None:
        states, after = self.states(w["states"]), self.map(w["word"])
        assert after[states].tolist() == states[1:] + states[:1]
        assert len(states) == w["order"] > 1

    def _group_order_states_words(self, w: dict) -> None:
        states = sorted(self.states(w["states"]))
        rows = [np.searchsorted(states, self.map(v)[states]) for v in w["words"]]
        group = PermutationGroup(np.array(rows))
        assert group.perfect_core().order == w["order"] > 1


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    """The functions of this file."""
    return sys.modules[__name__]
