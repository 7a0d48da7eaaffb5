"""Properties of the elements of T(A), read off the enumerated monoid.

T(A) has no adjoined identity: that the empty word does nothing says nothing about T(A).
"""

from collections.abc import Callable

import numpy as np

from krohn.algebra.classification.findings import Findings
from krohn.algebra.classification.property import Property, Witness, spell
from krohn.algebra.green import Green
from krohn.algebra.monoid import TransformationMonoid, batches, compose
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

Found = tuple[str, Witness] | None


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
    found = refute(findings.machine, findings.relations)
    if found is None:
        return Property(name, True, yes)
    return Property(name, False, *found)


def _l_related(machine: Semiautomaton, found: Green) -> Found:
    pair = _first_pair(found.l_class)
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
        pair = _first_pair(found.d_class[local])
        if pair is not None:
            x, y = (spell(machine, monoid.word(int(local[i]))) for i in pair)
            reason = "e is idempotent and neutral for x and y, but xy is not yx"
            return reason, {"e": word, "x": x, "y": y}
    return None


def _local_monoid(monoid: TransformationMonoid, e: int) -> IntArray:
    """The elements x of T(A) with ex = x = xe."""
    row = monoid.elements[e].astype(np.int64)
    inside = (monoid.elements[:, row] == monoid.elements).all(axis=1)
    found = np.flatnonzero(inside)
    inside[found] = (row[monoid.elements[found]] == monoid.elements[found]).all(axis=1)
    inside[0] &= monoid.identity_is_product
    return np.flatnonzero(inside)


def _first_pair(label: IntArray) -> tuple[int, int] | None:
    """The first two places with one label, by the later of them."""
    first = np.unique(label, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[1][first[2]] != np.arange(len(label)))
    if not len(again):
        return None
    return int(first[1][first[2][again[0]]]), int(again[0])


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
