"""Properties of the elements of T(A), and of its groups."""

from collections.abc import Callable
from itertools import combinations

import numpy as np

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.findings import (
    Findings,
    name_or_size,
    tractable,
    writable,
)
from krohn.algebra.classification.properties import (
    Found,
    Property,
    Witness,
    act,
    call,
    first_pair,
    spell,
)
from krohn.algebra.green import Green
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.monoid import (
    Enumeration,
    IntegerRows,
    TransformationMonoid,
    batches,
    compose,
)
from krohn.algebra.skeleton import ImageClass, Skeleton

# Properties of the elements of T(A), read off the enumerated monoid.
#
# T(A) has no adjoined identity: that the empty word does nothing says nothing about T(A).


def band(findings: Findings) -> Property:
    """Every element is idempotent: a word acts like its repetition (x² = x)."""
    rows, machine = findings.elements.rows, findings.machine
    for part in batches(rows, len(rows)):
        other = np.flatnonzero(
            (compose(rows[part], rows[part]) != rows[part]).any(axis=1)
        )
        if len(other):
            word = findings.elements.word(part.start + int(other[0]))
            return Property(
                "idempotent",
                False,
                "some word does not act like its repetition",
                {"word": spell(machine, word)},
            )
    if findings.shortage:
        return Property("idempotent", None, findings.shortage)
    return Property("idempotent", True, "every word acts like its repetition")


def l_trivial(findings: Findings) -> Property:
    """L-related elements are equal."""
    return _decide(findings, "L-trivial", "no two elements are L-related", _l_related)


def da(findings: Findings) -> Property:
    """The regular elements are idempotent: DA, the languages of FO² (two variables).

    Regular means that some y satisfies xyx = x.
    """
    return _decide(findings, "DA", "every regular element is idempotent", _not_da)


def locally_testable(findings: Findings) -> Property:
    """The local monoids eSe are semilattices (Brzozowski, Simon; McNaughton).

    It suffices to look at one idempotent e for each D-class, because D-related ones
    have isomorphic local monoids. Elements of eSe that are regular in it are D-related
    there if they are so in S; an idempotent eSe is commutative exactly if its D-classes,
    which are rectangular bands, have one element each.
    """
    yes = "ese is idempotent and commutes with ete, for all idempotents e"
    return _decide(findings, "locally testable", yes, _not_locally_testable)


def _decide(
    findings: Findings,
    name: str,
    yes: str,
    refute: Callable[[Semiautomaton, Green], Found],
) -> Property:
    if findings.relations is None:
        return Property(name, None, findings.shortage)
    refutation = refute(findings.machine, findings.relations)
    if refutation is None:
        return Property(name, True, yes)
    return Property(name, False, *refutation)


def _l_related(machine: Semiautomaton, found: Green) -> Found:
    pair = first_pair(found.l_class)
    if pair is None:
        return None
    words = [spell(machine, found.monoid.word(i)) for i in pair]
    there, back = (_from_left(found.monoid, i, j) for i, j in (pair, pair[::-1]))
    witness = {"words": words, "left": [spell(machine, w) for w in (there, back)]}
    return "two different words can be made from each other by prefixes", witness


def _not_da(machine: Semiautomaton, found: Green) -> Found:
    regular = found.idempotent_counts[found.d_class] > 0
    regular[found.monoid.idempotents] = False
    others = np.flatnonzero(regular)
    if not len(others):
        return None
    x = int(others[0])
    y = _inverse(found, x)
    words = [spell(machine, found.monoid.word(i)) for i in (x, y)]
    witness = dict(zip(("x", "y"), words, strict=True))
    return "xyx = x, but xx is not x", witness


def _not_locally_testable(machine: Semiautomaton, found: Green) -> Found:
    monoid = found.monoid
    for e in found.first_idempotents[found.idempotent_counts > 0].tolist():
        if e == 0 and not monoid.identity_is_product:
            continue
        word = spell(machine, monoid.word(e) or monoid.identity_word() or ())
        local = _local_monoid(monoid, e)
        other = np.setdiff1d(local, monoid.idempotents, assume_unique=True)
        if len(other):
            x = spell(machine, monoid.word(int(other[0])))
            return "ex = xe = x and e is idempotent, but xx is not x", {
                "e": word,
                "x": x,
            }
        pair = first_pair(found.d_class[local])
        if pair is not None:
            x, y = (spell(machine, monoid.word(int(local[i]))) for i in pair)
            reason = "e is idempotent and neutral for x and y, but xy is not yx"
            return reason, {"e": word, "x": x, "y": y}
    return None


def _local_monoid(monoid: TransformationMonoid, e: int) -> IntArray:
    """The elements x of T(A) with ex = x = xe."""
    row = monoid.elements[e].astype(np.int64)
    inside = (monoid.elements[:, row] == monoid.elements).all(axis=1)
    members = np.flatnonzero(inside)
    inside[members] = (row[monoid.elements[members]] == monoid.elements[members]).all(
        axis=1
    )
    inside[0] &= monoid.identity_is_product
    return np.flatnonzero(inside)


def _from_left(monoid: TransformationMonoid, source: int, target: int) -> list[int]:
    """A word w with w·source = target, for L-related elements."""
    words: dict[int, list[int]] = {source: []}
    queue = [source]
    for element in queue:
        if element == target:
            break
        for letter, after in enumerate(monoid.left[element].tolist()):
            if after not in words:
                words[after] = [letter, *words[element]]
                queue.append(after)
    return words[target]


def _inverse(found: Green, x: int) -> int:
    """An element y with xyx = x, for a regular x."""
    members = found.members(int(found.d_class[x]))
    row = found.monoid.elements[x].astype(np.int64)
    for part in batches(found.monoid.elements, len(members)):
        after = row[found.monoid.elements[members[part]][:, row]]
        good = np.flatnonzero((after == row).all(axis=1))
        if len(good):
            return int(members[part][good[0]])
    raise AssertionError("a regular element has an inverse in its own D-class")


# The groups in T(A): aperiodic, solvable, and which groups there are.
#
# The skeleton shows them without the elements of the monoid. For an image P = Q·w of the
# state set let G(P) = {s restricted to P : P·s = P}, its permutator group.
#
# *Every subgroup of S¹ embeds into one G(P)*: let e be its identity and P = Qe. Each of
# its elements s satisfies Ps = P, and s = es is determined by its action on P.
#
# *Every G(P) is a quotient of a subgroup of S¹*: the elements s with Ps = P form a monoid
# M that maps onto G(P). If e is an idempotent of the minimal ideal of M, then eMe is a
# group (Suschkewitsch), and it maps onto 1·G(P)·1.
#
# So S¹ is aperiodic exactly if all G(P) are trivial, and solvable (its subgroups are, the
# intrinsic form of the thesis's Definition 8, erratum E23) exactly if all G(P) are
# solvable: subgroups and quotients of solvable groups are solvable. If P = Qe for an
# idempotent e, then G(P) is the maximal subgroup at e: the product es is in it for every
# s with Ps = P. All this holds for T(A) too, which lacks at most the identity element.


MOST_LISTED = 5_000


def aperiodic(findings: Findings, ordered: bool | None) -> Property:
    """All subgroups are trivial: star-free languages (Schützenberger), within AC⁰.

    Args:
        findings: What is known about the machine.
        ordered: Whether it is R-trivial, and therefore aperiodic.
    """
    word = _periodic_word(findings)
    if word is None and findings.skeleton is not None:
        word = _permuting_word(findings.skeleton)
    if word is not None:
        return Property(
            "aperiodic",
            False,
            "a word permutes some states and fixes none of them",
            _cycle(findings.machine, word),
        )
    if ordered:
        return Property("aperiodic", True, "no state is left and entered again")
    if findings.skeleton is not None or findings.monoid is not None:
        reason = (
            "no word permutes states among themselves: T(A) has trivial groups only"
        )
        return Property("aperiodic", True, reason)
    return Property("aperiodic", None, findings.image_shortage)


def solvable(findings: Findings, known: bool) -> Property:
    """All subgroups are solvable: the machines of the thesis's Theorem 11, ACC⁰.

    The word problem of T(A) is NC¹-complete if one is not (Barrington, Thérien).

    Args:
        findings: What is known about the machine.
        known: Whether it is aperiodic or commutative, and therefore solvable.
    """
    if known:
        return Property("solvable", True, "its groups are trivial or commutative")
    if findings.skeleton is None:
        return Property("solvable", None, findings.image_shortage)
    bad, doubt = _not_solvable(findings.skeleton)
    if bad is None:
        if doubt:
            return Property("solvable", None, doubt)
        return Property("solvable", True, "all groups in T(A) are solvable")
    words, core = _perfect_words(findings.skeleton, bad)
    # Where the letters act on points, the states of the machine are the group itself.
    states = range(len(findings.machine.states))
    same = findings.acting is findings.machine
    witness: Witness = {
        "states": call(findings.machine, bad.points[0] if same else states),
        "words": [spell(findings.machine, word) for word in words],
        "group": name_or_size(core),
        "order": writable(core.order),
    }
    reason = f"words generate the perfect group {name_or_size(core)} on some states"
    return Property("solvable", False, reason, witness)


def _not_solvable(found: Skeleton) -> tuple[ImageClass | None, str]:
    """The smallest class whose group is not solvable; or why that is not known."""
    known: dict[tuple[int, bytes], bool] = {}
    doubt = ""
    for image_class in sorted(found.classes, key=lambda c: c.size):
        group = image_class.group
        if not tractable(group):
            doubt = f"a group on {group.degree} states is too large for this search"
            continue
        key = group.degree, group.generators.tobytes()
        if key not in known:
            known[key] = group.is_solvable
        if not known[key]:
            return image_class, ""
    return None, doubt


def _periodic_word(findings: Findings) -> tuple[int, ...] | None:
    """The smallest word found so far, no power of which fixes the states it reaches."""
    rows = findings.elements.rows
    for part in batches(rows, len(rows)):
        power: IntegerRows = rows[part]
        for _ in range((rows.shape[1] - 1).bit_length()):
            power = compose(power, power)
        moving = np.flatnonzero((compose(power, rows[part]) != power).any(axis=1))
        if len(moving):
            return findings.elements.word(part.start + int(moving[0]))
    return None


def _permuting_word(found: Skeleton) -> tuple[int, ...] | None:
    for image_class in found.classes:
        if len(image_class.generators):
            return tuple(found.permutator_words(image_class)[0][0])
    return None


def _cycle(machine: Semiautomaton, word: tuple[int, ...]) -> Witness:
    """A cycle of at least two states that repetitions of the word go through."""
    row = act(machine, word)
    reached = row
    for _ in range((len(row) - 1).bit_length()):
        reached = reached[reached]
    state = int(reached[row[reached] != reached][0])
    cycle = [state]
    while (after := int(row[cycle[-1]])) != state:
        cycle.append(after)
    return {
        "word": spell(machine, word),
        "states": call(machine, cycle),
        "order": len(cycle),
    }


def _perfect_words(
    found: Skeleton, image_class: ImageClass
) -> tuple[list[list[int]], PermutationGroup]:
    """Words that act on a class's representative as generators of a perfect group.

    Two words if the group is small enough to be listed; then they are short. Otherwise
    words of generators, of which the perfect group is the last derived subgroup.
    """
    letters = found.permutator_words(image_class)
    core = _perfect_core(image_class.group)
    elements = Enumeration(np.array([row for _, row in letters]))
    try:
        elements.run(Budget(size=MOST_LISTED))
    except BudgetExceeded:
        return [word for word, _ in letters], core
    pair = _generating_pair(elements.rows.astype(np.int64), core)
    words = [[a for i in elements.word(e) for a in letters[i][0]] for e in pair]
    return words, core


def _perfect_core(group: PermutationGroup) -> PermutationGroup:
    if group.is_giant:
        return PermutationGroup.alternating(group.degree)
    return group.perfect_core()


def _generating_pair(elements: IntArray, core: PermutationGroup) -> tuple[int, ...]:
    """The first elements that generate the group, pairs first."""
    inside = np.flatnonzero(core.contains(elements))
    for size in (2, 3, 4):
        for chosen in combinations(inside[1:60].tolist(), size):
            if core.subgroup(elements[list(chosen)]).order == core.order:
                return chosen
    return tuple(inside.tolist())
