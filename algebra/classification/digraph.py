"""Properties that show on the graph of states, and on the graph of its pairs."""

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.classification.properties import (
    MOST_PAIR_STEPS,
    Property,
    Witness,
    act,
    call,
    spell,
)
from krohn.algebra.graphs import components_of_steps, reached_from
from krohn.algebra.monoid import idempotent_power
from krohn.algebra.wording import count

Flags = npt.NDArray[np.bool_]


def components(machine: Semiautomaton) -> IntArray:
    """``(states,)``: the strongly connected component of each state."""
    return components_of_steps(machine.transitions)


def restricted_transitions(machine: Semiautomaton, states: IntArray) -> IntArray:
    """``(letters, states)``: the machine on some states, −1 where a letter leaves them."""
    place: IntArray = np.full(len(machine.states), -1, dtype=np.int64)
    place[states] = np.arange(len(states))
    return place[machine.transitions[:, states]]


def path(machine: Semiautomaton, source: int, *targets: int) -> tuple[int, ...] | None:
    """A shortest non-empty word from a state to one of others; None if there is none."""
    words: dict[int, tuple[int, ...]] = {}
    queue: list[tuple[int, tuple[int, ...]]] = [(source, ())]
    for state, word in queue:
        for letter, after in enumerate(machine.transitions[:, state].tolist()):
            if after in targets:
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
        differences = np.argwhere(one != other)
        if len(differences):
            b, state = (int(i) for i in differences[0])
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
    leaving = np.flatnonzero(kept & moved)
    if not len(leaving):
        return None
    state = int(leaving[0])
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


# Whether the last letters decide the state: definite and generalised definite.


def definite(machine: Semiautomaton) -> Property:
    """The last k letters decide the state (Perles, Rabin, Shamir 1963).

    Call states i-equivalent if all words of i letters take them to the same state: 0 is
    equality, and p, q are (i+1)-equivalent if pa, qa are i-equivalent for all letters
    a. The machine is definite if these equivalences, which only grow, come to hold for
    all states; the first such i is k. If they stop growing before that, then from two
    states that are never equivalent some letter leads to two such states again, for
    ever: in the end a word takes two different states to themselves, and so does every
    power of it. Where one state leads to all others, this says se = e for all
    idempotents e and elements s of T(A).
    """
    blocks = equivalences(machine)
    if blocks[-1].any():
        return Property(
            "definite",
            False,
            "a word keeps two different states, so that it can be repeated "
            "for ever without deciding between them",
            _endless_pair(machine, blocks[-1]),
        )
    k = len(blocks) - 1
    decided = f"{_last(k)} the state, whatever it was before"
    return Property("definite", True, decided if k else "there is one state", {"k": k})


def equivalences(machine: Semiautomaton) -> list[IntArray]:
    """``(states,)`` the i-equivalence class of each state, for i = 0, 1, … until it stays.

    The last is one class, all labels 0, exactly if the machine is definite.
    """
    blocks = [np.arange(len(machine.states))]
    while blocks[-1].any():
        coarser = _same_columns(blocks[-1][machine.transitions])
        if coarser.max() == blocks[-1].max():
            break
        blocks.append(coarser)
    return blocks


def generalised_definite(machine: Semiautomaton) -> Property:
    """The first and the last k letters decide the state: ese = e in T(A).

    If rese ≠ re for a state r, then e fixes p = re and q = rese, and p leads to q. If a
    word u fixes p ≠ q and p leads to q by x, then e = u^ω fixes both and p·exe = q ≠ p.
    So the test looks for two states in a cycle of the graph of pairs, the first of
    which leads to the second.
    """
    name = "generalised definite"
    kept_pair = _kept_by_powers(machine)
    letters, states = machine.transitions.shape
    if kept_pair is None and letters * states**2 > MOST_PAIR_STEPS:
        return Property(name, None, "too many pairs of states to search")
    kept_pair = kept_pair or _kept_pair(machine)
    if kept_pair is None:
        reason = "a word that keeps two states never leads from one to the other"
        return Property(name, True, f"{reason}: the first and last letters decide")
    (p, q), word = kept_pair
    between = path(machine, p, q)
    assert between is not None
    witness: Witness = {
        "states": call(machine, (p, q)),
        "kept by": spell(machine, word),
        "path": spell(machine, between),
    }
    reason = "a word keeps two states of which the first leads to the second"
    return Property(name, False, reason, witness)


def _last(k: int) -> str:
    return f"the last {count(k, 'letter')} decide{'s' if k == 1 else ''}"


def _same_columns(rows: IntArray) -> IntArray:
    """A label ``(n,)`` for each column of ``(k, n)``, from 0; equal columns share it."""
    label = np.unique(rows, axis=1, return_inverse=True)[1]
    return np.asarray(label, dtype=np.int64).reshape(-1)


def _endless_pair(machine: Semiautomaton, block: IntArray) -> Witness:
    """Two states and a word that keeps both, from states in different blocks."""
    second = int(np.flatnonzero(block != block[0])[0])
    pair, word, seen = (0, second), list[int](), dict[tuple[int, int], int]()
    while pair not in seen:
        seen[pair] = len(word)
        after = machine.transitions[:, pair]
        letter = int((block[after[:, 0]] != block[after[:, 1]]).argmax())
        word.append(letter)
        pair = int(after[letter, 0]), int(after[letter, 1])
    return {
        "states": call(machine, pair),
        "kept by": spell(machine, word[seen[pair] :]),
    }


def _kept_by_powers(machine: Semiautomaton) -> tuple[tuple[int, int], list[int]] | None:
    """Two states, the first leading to the second, that a power of a letter keeps."""
    powers = idempotent_power(machine.transitions)
    for letter, power in enumerate(powers):
        kept = np.flatnonzero(power == np.arange(len(power)))
        pair = _leads(machine, kept)
        if pair is not None:
            period = _period(machine.transitions[letter], pair)
            return pair, [letter] * period
    return None


def _leads(machine: Semiautomaton, states: IntArray) -> tuple[int, int] | None:
    """Two of the states, the first of which leads to the second."""
    wanted = np.zeros(len(machine.states), dtype=bool)
    wanted[states] = True
    for source in states.tolist():
        reached = reached_from(machine.transitions, source) & wanted
        reached[source] = False
        if reached.any():
            return source, int(np.flatnonzero(reached)[0])
    return None


def _period(row: IntArray, pair: tuple[int, int]) -> int:
    """How often a letter must be repeated until both states have come back."""
    after, steps = row[list(pair)], 1
    while not np.array_equal(after, pair):
        after, steps = row[after], steps + 1
    return steps


def _kept_pair(machine: Semiautomaton) -> tuple[tuple[int, int], list[int]] | None:
    """Two states, the first leading to the second, that some word keeps."""
    letters, n = machine.transitions.shape
    after = machine.transitions[:, :, None] * n + machine.transitions[:, None, :]
    edges = after.reshape(letters, n * n).T
    label = components_of_steps(edges.T)
    own = (edges == np.arange(n * n)[:, None]).any(axis=1)
    cyclic = ((np.bincount(label)[label] > 1) | own).reshape(n, n)
    np.fill_diagonal(cyclic, False)
    for p in np.flatnonzero(cyclic.any(axis=1)).tolist():
        both = np.flatnonzero(cyclic[p] & reached_from(machine.transitions, p))
        if len(both):
            pairs = Semiautomaton(
                edges.T, machine.letters, tuple(map(str, range(n * n)))
            )
            node = p * n + int(both[0])
            word = path(pairs, node, node)
            assert word is not None
            return (p, int(both[0])), list(word)
    return None
