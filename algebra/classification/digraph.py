"""Properties that show on the graph of states: edges, cycles, synchronising words."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.classification.properties import Property, Witness, act, call, spell
from krohn.algebra.graphs import components_of_steps, towards
from krohn.algebra.wording import count

# Properties that show on the graph of states: its edges and its cycles.


Flags = npt.NDArray[np.bool_]


def components(machine: Semiautomaton) -> IntArray:
    """``(states,)``: the strongly connected component of each state."""
    return components_of_steps(machine.transitions)


def restricted_transitions(machine: Semiautomaton, states: IntArray) -> IntArray:
    """``(letters, states)``: the machine on some states, −1 where a letter leaves them."""
    place: IntArray = np.full(len(machine.states), -1, dtype=np.int64)
    place[states] = np.arange(len(states))
    return place[machine.transitions[:, states]]


def path(machine: Semiautomaton, source: int, target: int) -> tuple[int, ...] | None:
    """A shortest non-empty word from one state to another; None if there is none."""
    words: dict[int, tuple[int, ...]] = {}
    queue: list[tuple[int, tuple[int, ...]]] = [(source, ())]
    for state, word in queue:
        for letter, after in enumerate(machine.transitions[:, state].tolist()):
            if after == target:
                return (*word, letter)
            if after not in words:
                words[after] = (*word, letter)
                queue.append((after, words[after]))
    return None


def transitive(machine: Semiautomaton) -> Property:
    """Every state leads to every other: the graph is strongly connected."""
    label = components(machine)
    if label.max() == 0:
        return Property("transitive", True, "every state leads to every other")
    away = np.flatnonzero(label != label[0])
    # Of two components, at least one does not lead to the other.
    source, target = (0, int(away[0]))
    if path(machine, source, target) is not None:
        source, target = target, source
    return Property(
        "transitive",
        False,
        "some state does not lead to some other",
        {"from": machine.states[source], "to": machine.states[target]},
    )


def r_trivial(machine: Semiautomaton) -> Property:
    """R-related elements are equal: the states are partially ordered.

    That is, the graph has no cycles but loops at single states. If words lead from q to
    p ≠ q by x and back by y, then e = (xy)^ω and ex are R-related, and they differ at
    q. If x = yv and y = xu differ at q, then u and v lead between qx and qy and back.
    """
    label = components(machine)
    cycle = _cycle(machine, label)
    if cycle is None:
        return Property("R-trivial", True, "no state is left and entered again")
    return Property("R-trivial", False, "a state is left and entered again", cycle)


def j_trivial(machine: Semiautomaton) -> Property:
    """J-related elements are equal, as for piecewise testable languages (I. Simon).

    The test: the states are partially ordered, and for a state q and letters a, b the
    words a(ab)^n and b(ab)^n lead q to the same state (O. Klíma, L. Polák, Alternative
    automata characterization of piecewise testable languages, 2013). Call a state that
    all letters of B fix a B-sink. In a partially ordered machine a word that has all
    letters of B, repeated n times, leads every state to a B-sink.

    *If J-trivial*: e = w^ω with w all letters of B satisfies xe = e for every word x
    over B. So B-sinks qx and qy, which e fixes, are both qe; this holds for a, b.
    *If the test is passed*: properly moving letters of B form a terminating and locally
    confluent rewriting of states, so that every state q leads by words over B to one
    B-sink only (Newman). Let s = xt and t = ys, so s = es with e = (xy)^n, and B be the
    letters of xy. Then qe and q·ye are B-sinks, hence equal; t = ys = yes = es = s.
    L-classes are trivial, R-classes by the order, hence J = D-classes.
    """
    label = components(machine)
    cycle = _cycle(machine, label)
    if cycle is not None:
        return Property("J-trivial", False, "a state is left and entered again", cycle)
    fork = _fork(machine)
    if fork is None:
        return Property(
            "J-trivial",
            True,
            "no state is entered again, and any two letters lead back together: "
            "piecewise testable",
        )
    state, words = fork
    ends = [int(act(machine, word)[state]) for word in words]
    witness: Witness = {
        "state": machine.states[state],
        "words": [spell(machine, word) for word in words],
        "ends": call(machine, ends),
    }
    return Property(
        "J-trivial",
        False,
        "two words over two letters end in different states that both letters fix",
        witness,
    )


def nilpotent(machine: Semiautomaton) -> Property:
    """T(A) has a zero, and all words of some length m act as this zero.

    The zero z satisfies za = az = z: after m letters no letter changes the state, and
    the state depends on the one at the beginning alone. Conversely, if the graph has no
    cycles but loops at states that all letters fix, and each state leads to one such
    state only, then all long words act alike. The least m is given.
    """
    loop = _leaves_a_cycle(machine)
    if loop is not None:
        return Property("nilpotent", False, "a state is kept and left later", loop)
    steps, sinks = _settling(machine)
    two = _two_ends(machine, sinks, steps)
    if two is not None:
        return Property("nilpotent", False, "a state leads to two final states", two)
    length = max(steps, 1)
    return Property(
        "nilpotent",
        True,
        f"all words of {count(length, 'letter')} or more act alike",
        {"length": length},
    )


def reverse_definite(machine: Semiautomaton) -> Property:
    """The first k letters decide the state: after them no letter changes it.

    Equivalently es = e for all idempotents e and elements s of T(A): the states qe are
    those that some non-empty word keeps, and every letter must keep them. So the graph
    has no cycles but loops at states that all letters fix. The least k is given.
    """
    loop = _leaves_a_cycle(machine)
    if loop is not None:
        return Property(
            "reverse definite", False, "a state is kept and left later", loop
        )
    steps, _ = _settling(machine)
    return Property(
        "reverse definite",
        True,
        f"no letter changes the state after {count(steps, 'letter')}",
        {"k": steps},
    )


def _cycle(machine: Semiautomaton, label: IntArray) -> Witness | None:
    """A state, another, and words there and back, if there are such."""
    sizes = np.bincount(label)
    inside = np.flatnonzero(sizes[label] > 1)
    if not len(inside):
        return None
    source = int(inside[0])
    after = machine.transitions[:, source]
    near = after[(label[after] == label[source]) & (after != source)]
    target = int(near[0])
    there, back = path(machine, source, target), path(machine, target, source)
    assert there is not None
    assert back is not None
    return {
        "states": call(machine, (source, target)),
        "words": [spell(machine, there), spell(machine, back)],
    }


def _fork(machine: Semiautomaton) -> tuple[int, list[list[int]]] | None:
    """A state and words that begin with two letters and do not come together."""
    rows = machine.transitions
    rounds = (rows.shape[1] - 1).bit_length()
    for a, row in enumerate(rows):
        both = rows[a + 1 :, row]
        for _ in range(rounds):
            both = np.take_along_axis(both, both, axis=1)
        one = both[:, row]
        other = np.take_along_axis(both, rows[a + 1 :], axis=1)
        found = np.argwhere(one != other)
        if len(found):
            b, state = (int(i) for i in found[0])
            return state, _until_kept(machine, state, a, a + 1 + b)
    return None


def _until_kept(machine: Semiautomaton, state: int, a: int, b: int) -> list[list[int]]:
    """Words a(ab)^m and b(ab)^m that lead to states that a and b fix."""
    ends = machine.transitions[[a, b], state]
    again: list[int] = []
    while (machine.transitions[[a, b]][:, ends] != ends).any():
        ends = machine.transitions[b][machine.transitions[a][ends]]
        again += [a, b]
    return [[a, *again], [b, *again]]


def _leaves_a_cycle(machine: Semiautomaton) -> Witness | None:
    """A state that a word keeps and a letter does not, if there is one."""
    rows = machine.transitions
    states = np.arange(rows.shape[1])
    label = components(machine)
    kept = (rows == states).any(axis=0) | (np.bincount(label)[label] > 1)
    moved = (rows != states).any(axis=0)
    found = np.flatnonzero(kept & moved)
    if not len(found):
        return None
    state = int(found[0])
    word = path(machine, state, state)
    assert word is not None
    letter = int(np.flatnonzero(rows[:, state] != state)[0])
    return {
        "state": machine.states[state],
        "kept by": spell(machine, word),
        "left by": spell(machine, [letter]),
    }


def _settling(machine: Semiautomaton) -> tuple[int, Flags]:
    """How many letters lead every state to one that all letters fix; these states."""
    rows = machine.transitions
    sinks: Flags = (rows == np.arange(rows.shape[1])).all(axis=0)
    steps, reached = 0, np.arange(rows.shape[1])
    while not sinks[reached].all():
        reached = np.unique(rows[:, reached])
        steps += 1
    return steps, sinks


def _two_ends(machine: Semiautomaton, sinks: Flags, steps: int) -> Witness | None:
    """A state and words from it to two different sinks, if there are such."""
    low = np.where(sinks, np.arange(len(sinks)), len(sinks))
    high = np.where(sinks, np.arange(len(sinks)), -1)
    for _ in range(steps):
        low = np.minimum(low, low[machine.transitions].min(axis=0))
        high = np.maximum(high, high[machine.transitions].max(axis=0))
    apart = np.flatnonzero(low != high)
    if not len(apart):
        return None
    state = int(apart[0])
    words = [path(machine, state, int(end[state])) for end in (low, high)]
    return {
        "state": machine.states[state],
        "words": [spell(machine, word or ()) for word in words],
        "ends": call(machine, (low[state], high[state])),
    }


# Whether some word leads all states to one, and a short word that does.


MOST_PAIR_STEPS = 6_000_000
LONGEST_WORD = 20_000


@dataclass(frozen=True)
class _Merging:
    """How pairs of states are merged by shortest words.

    Attributes:
        pair: ``(states, states)``: the number of each pair; equal states are the last.
        distance: ``(pairs + 1,)``: the length of the word, −1 if there is none.
        letter: ``(pairs + 1,)``: its first letter.
    """

    pair: IntArray
    distance: IntArray
    letter: IntArray


def synchronising(machine: Semiautomaton) -> Property:
    """Some word leads all states to one: a reset word (Černý).

    It exists if and only if every pair of states is led to one state by some word:
    merging pairs one after another merges all. A breadth-first search backwards from
    the merged pairs decides this, and merging a nearest pair each time gives a short
    word (D. Eppstein, Reset sequences for monotonic automata, 1990).
    """
    letters, n = machine.transitions.shape
    if n > 1 and (np.sort(machine.transitions, axis=1) == np.arange(n)).all():
        return _apart(machine, np.arange(2))
    few = MOST_PAIR_STEPS // max(1, n * (n - 1) // 2)
    if not few:
        return _undecided()
    chosen = np.argsort([len(np.unique(row)) for row in machine.transitions])[:few]
    merging = _merging(machine.transitions[chosen])
    apart = np.argwhere(merging.distance[merging.pair] < 0)
    if not len(apart):
        word = _reset_word(machine.transitions[chosen], merging)
        return _reset(machine, None if word is None else chosen[word])
    if few < letters:
        return _undecided()
    return _apart(machine, apart[0])


def _undecided() -> Property:
    return Property("synchronising", None, "too many pairs of states to search")


def _apart(machine: Semiautomaton, pair: IntArray) -> Property:
    return Property(
        "synchronising",
        False,
        "no word leads two of the states to one state",
        {"states": call(machine, pair)},
    )


def _reset(machine: Semiautomaton, word: IntArray | None) -> Property:
    if word is None:
        reason = (
            f"any two states are merged by a word; more than {LONGEST_WORD:,} letters"
        )
        return Property("synchronising", True, f"{reason} merge all")
    end = 0
    for letter in word:
        end = int(machine.transitions[letter, end])
    return Property(
        "synchronising",
        True,
        f"a word of {count(len(word), 'letter')} leads all states to one",
        {"word": spell(machine, word), "ends": call(machine, [end])},
    )


def _merging(rows: IntArray) -> _Merging:
    letters, n = rows.shape
    p, q = np.triu_indices(n, 1)
    merged = len(p)
    pair = np.full((n, n), merged, dtype=np.int64)
    pair[p, q] = pair[q, p] = np.arange(merged)
    after = np.full((letters, merged + 1), merged, dtype=np.int64)
    after[:, :merged] = pair[rows[:, p], rows[:, q]]
    source = np.repeat(np.arange(merged + 1), letters)
    next_pair = towards(merged + 1, source, after.T.ravel(), merged)
    letter = (after == next_pair).argmax(axis=0)
    return _Merging(pair, _distances(next_pair, merged), letter)


def _distances(next_node: IntArray, root: int) -> IntArray:
    """The steps from each node to the root, −1 for nodes that do not lead to it."""
    steps = (next_node != np.arange(len(next_node))).astype(np.int64)
    for _ in range(len(next_node).bit_length()):
        steps = steps + steps[next_node]
        next_node = next_node[next_node]
    return np.where(next_node == root, steps, -1)


def _reset_word(rows: IntArray, merging: _Merging) -> list[int] | None:
    """A word that merges all states; None if the one that was sought is very long."""
    states, word = np.arange(rows.shape[1]), list[int]()
    while len(states) > 1:
        first, second = np.triu_indices(len(states), 1)
        pairs = merging.pair[states[first], states[second]]
        best = int(merging.distance[pairs].argmin())
        p, q = int(states[first[best]]), int(states[second[best]])
        if len(word) + merging.distance[pairs[best]] > LONGEST_WORD:
            return None
        while p != q:
            letter = int(merging.letter[merging.pair[p, q]])
            word.append(letter)
            p, q = int(rows[letter, p]), int(rows[letter, q])
            states = np.unique(rows[letter, states])
    return word
