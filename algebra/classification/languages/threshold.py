"""Threshold testable languages and dot-depth one, with the least parameters."""

from collections.abc import Iterator
from itertools import product
from math import log2

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.findings import Findings
from krohn.algebra.classification.languages.language import Language
from krohn.algebra.classification.properties import Found, Property, Witness, spell
from krohn.algebra.graphs import towards
from krohn.algebra.green import Green
from krohn.algebra.monoid import IntegerRows, compose

# Tests on pairs of idempotents: threshold testable, and dot-depth one.


class Locals:
    """The sets eSf for the idempotents e, f that matter, as rows and element numbers.

    An equation over elements of eSf and fSe that holds for e and f holds for idempotents
    below them, and for D-related ones; so one idempotent of each highest regular D-class
    of T(A) is enough.
    """

    def __init__(self, language: Language, findings: Findings, budget: Budget) -> None:
        assert findings.relations is not None
        self.machine = language.machine
        self.green: Green = findings.relations
        self.monoid = self.green.monoid
        self.rows = self.monoid.elements.astype(np.int64)
        self.tops = _highest(self.green)
        inside = np.ones(self.monoid.size, dtype=bool)
        inside[0] = self.monoid.identity_is_product
        self.budget = budget
        self.spend(2 * len(self.tops) * self.monoid.size)
        # ex = x and xf = x, for the idempotents e and f that matter.
        self._left = {
            e: inside & (self.rows[:, self.rows[e]] == self.rows).all(axis=1)
            for e in self.tops
        }
        self._right = {
            f: inside & (self.rows[f][self.rows] == self.rows).all(axis=1)
            for f in self.tops
        }

    def elements_between(self, e: int, f: int) -> IntArray:
        """The elements of eSf."""
        return np.flatnonzero(self._left[e] & self._right[f])

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs of idempotents that matter."""
        return ((e, f) for e in self.tops for f in self.tops)

    def spend(self, products: int) -> None:
        """Count products of elements.

        Raises:
            BudgetExceeded: If there are too many.
        """
        entries = products * self.rows.shape[1]
        self.budget.reserve("products of elements", entries)

    def spell(self, **elements: int) -> Witness:
        """A smallest non-empty word of each element."""
        return {
            name: spell(
                self.machine,
                self.monoid.word(x) or self.monoid.identity_word() or (),
            )
            for name, x in elements.items()
        }


def threshold_testable(
    language: Language,
    findings: Findings,
    aperiodic: Property,
    local: Property,
    budget: Budget,
) -> Property:
    """How often factors of k letters occur, counted up to t, and the ends: LTT.

    Holds for some k and t exactly if S is aperiodic and p·r·q = q·r·p for all p, q in
    eSf and r in fSe (Thérien, Weiss 1985; Beauquier, Pin 1989). If the monoids eSe
    commute, it is enough to take one element of each D-class for p, q and r, since
    elements of eSe and fSf can be moved past p, q and r (docs/proofs/classes.md, 4).
    """
    name = "locally threshold testable"
    if local.holds:
        known = (local.witness or {}).get("k")
        return _with_parameters(language, "it is locally testable", budget, known)
    if aperiodic.holds is False:
        return Property(name, False, aperiodic.evidence, aperiodic.witness)
    if findings.relations is None:
        return Property(name, None, findings.shortage)
    locals_ = Locals(language, findings, budget)
    failure = _not_commuting(locals_) or _not_exchanging(locals_)
    if failure:
        return Property(name, False, *failure)
    reason = "aperiodic, and prq = qrp for p, q in eSf and r in fSe, e and f idempotent"
    return _with_parameters(language, reason, budget)


def _with_parameters(
    language: Language, reason: str, budget: Budget, testable: int | None = None
) -> Property:
    """The least k, and for it the least t, as far as the search goes.

    Args:
        language: A language that is locally threshold testable.
        reason: Why it is.
        budget: The most work; an eighth of it if ``testable`` is an answer already.
        testable: The least k for which it is locally testable, if there is one.
    """
    name, witness = "locally threshold testable", dict[str, int]()
    budget = budget if testable is None else budget.part(budget.left / 8)
    try:
        witness["k"] = k = least_window(language, budget)
        reason = f"counts of factors of {k} letters, and the ends, decide"
        t = 1 if k == testable else least_threshold(language, k, budget)
        witness["t"] = t
        reason = f"counts up to {t} of factors of {k} letters, and the ends, decide"
    except BudgetExceeded as error:
        if testable is None:
            reason += f"; the least {'t' if witness else 'k'} is not known ({error})"
        else:
            witness = {"k": testable, "t": 1}
            reason += f"; whether fewer letters do, if counted, is not known ({error})"
    return Property(name, True, reason, witness or None)


def _not_commuting(found: Locals) -> Found:
    for e in found.tops:
        local = found.elements_between(e, e)
        image = np.unique(found.rows[e])
        found.spend(len(local) ** 2)
        for x in local.tolist():
            both = found.rows[local[:, None], found.rows[x, image]]
            other = found.rows[x][found.rows[local[:, None], image]]
            bad = np.flatnonzero((both != other).any(axis=1))
            if len(bad):
                words = found.spell(e=e, x=x, y=int(local[bad[0]]))
                return (
                    "e is idempotent and neutral for x and y, but xy is not yx",
                    words,
                )
    return None


def _not_exchanging(found: Locals) -> Found:
    for e, f in found.pairs():
        if e == f:
            continue
        there = _one_of_each(found, found.elements_between(e, f))
        back = _one_of_each(found, found.elements_between(f, e))
        found.spend(len(there) ** 2 * len(back))
        for p in there.tolist():
            for r in back.tolist():
                pr = found.rows[r][found.rows[p]]
                rp = found.rows[p][found.rows[r]]
                q = found.rows[there]
                bad = np.flatnonzero((q[:, pr] != rp[q]).any(axis=1))
                if len(bad):
                    words = found.spell(e=e, f=f, p=p, q=int(there[bad[0]]), r=r)
                    return "prq is not qrp, where e = ee begins, f = ff ends p", words
    return None


def _one_of_each(found: Locals, members: IntArray) -> IntArray:
    """One of the elements for each D-class."""
    chosen = np.unique(found.green.d_class[members], return_index=True)[1]
    return members[np.sort(chosen)]


def dot_depth_one(
    language: Language,
    findings: Findings,
    aperiodic: Property,
    known: Property | None,
    budget: Budget,
) -> Property:
    """Boolean combinations of u₀Σ*u₁Σ*…Σ*uₙ: piecewise locally testable (PLT).

    Which sequences of factors occur one after the other decides. Knast (1983): exactly
    if (rs)^ω·r·v·(uv)^ω = (rs)^ω·(uv)^ω for all idempotents e, f, and r, u in eSf, s, v
    in fSe. With α = (rs)^ω, ρ = αr, β = (uv)^ω and λ = vβ this says ρλ = αβ; the pairs
    (α, ρ) are the idempotents of eSe with the elements of Sf in their R-classes, the
    pairs (λ, β) likewise with L-classes (docs/proofs/classes.md, 5).

    Args:
        language: The language.
        findings: What is known about its machine.
        aperiodic: Whether it is star-free.
        known: A property that holds and implies this one, if there is one.
        budget: The most work.
    """
    name = "piecewise locally testable"
    if known is not None:
        return Property(name, True, f"it is {known.name}")
    if aperiodic.holds is False:
        return Property(name, False, aperiodic.evidence, aperiodic.witness)
    if findings.relations is None:
        return Property(name, None, findings.shortage)
    failure = _not_knast(Locals(language, findings, budget))
    if failure:
        return Property(name, False, *failure)
    return Property(name, True, "Knast's equation of dot-depth one holds")


def _not_knast(found: Locals) -> Found:
    idempotent = np.zeros(found.monoid.size, dtype=bool)
    idempotent[found.monoid.idempotents] = True
    for e, f in found.pairs():
        local = found.elements_between(e, e)
        chosen = local[idempotent[local]]
        alpha, rho = _pairs_of_one_label(
            found, chosen, found.elements_between(e, f), found.green.r_class
        )
        beta, lam = _pairs_of_one_label(
            found, chosen, found.elements_between(f, e), found.green.l_class
        )
        found.spend(len(alpha) * len(beta))
        for a, p in zip(alpha.tolist(), rho.tolist(), strict=True):
            one = _products(found, p, lam)
            other = _products(found, a, beta)
            bad = np.flatnonzero((one != other).any(axis=1))
            if len(bad):
                b, q = int(beta[bad[0]]), int(lam[bad[0]])
                words = found.spell(e=e, f=f, α=a, ρ=p, λ=q, β=b)
                return "ρλ is not αβ, where ρ begins like α and λ ends like β", words
    return None


def _products(found: Locals, first: int, last: IntArray) -> IntegerRows:
    rows = np.broadcast_to(found.rows[first], (len(last), found.rows.shape[1]))
    return compose(rows, found.rows[last])


def _pairs_of_one_label(
    found: Locals, idempotents: IntArray, others: IntArray, label: IntArray
) -> tuple[IntArray, IntArray]:
    """All pairs of an idempotent and another element with the same label."""
    order = others[np.argsort(label[others], kind="stable")]
    low = np.searchsorted(label[order], label[idempotents], "left")
    high = np.searchsorted(label[order], label[idempotents], "right")
    found.spend(int((high - low).sum()))
    first = np.repeat(idempotents, high - low)
    start = np.repeat(
        low - np.concatenate([[0], np.cumsum(high - low)[:-1]]), high - low
    )
    return first, order[start + np.arange(len(first))]


def _highest(green: Green) -> list[int]:
    """An idempotent of each regular D-class of T(A) that lies below no other such class."""
    regular = green.idempotent_counts > 0
    if not green.monoid.identity_is_product:
        regular[green.d_class[0]] = False
    end = len(regular)
    above, below = green.order.T
    first = np.unique(below[regular[above]])
    # Ways against the order, from lower classes to those below regular ones.
    source = np.concatenate([below, first])
    target = np.concatenate([above, np.full(len(first), end)])
    order = np.argsort(source, kind="stable")
    following = towards(end + 1, source[order], target[order], end)
    lowered = following[:end] != np.arange(end)
    chosen = np.flatnonzero(regular & ~lowered)
    return [int(e) for e in green.first_idempotents[chosen]]


# The length of the factors that must be counted, and the threshold of the counts.


# Numbers of counts are kept in 64 bits, with room for windows and states.
MOST_BITS = 55


def least_window(language: Language, budget: Budget) -> int:
    """The least k such that counts of factors of k letters, up to some number, decide.

    The words of k − 1 letters are the vertices of a graph, in which the letters lead
    from window to window. A path from u to v acts on the states that u leads to. Counts
    of edges decide, for a language whose monoid is aperiodic, exactly if pr·q and qr·p
    act alike for all paths p, q from u to v and r from v to u (Thérien, Weiss 1985).

    Args:
        language: A language that is locally threshold testable.
        budget: The most work.

    Raises:
        BudgetExceeded: If the paths act in too many ways.
    """
    k = 1
    while not _exchange(_Windows(language, k - 1, budget)):
        k += 1
    return k


class _Windows:
    """The graph of windows, and the maps by which its paths act.

    Attributes:
        rows: ``(letters, states)``: the machine.
        words: The windows.
        images: The states that each window leads to.
        paths: For each window u and v, the maps ``(paths, states of u)`` into states.
    """

    def __init__(self, language: Language, length: int, budget: Budget) -> None:
        self.rows = language.machine.transitions
        letters = len(self.rows)
        self.budget = budget
        self._spend(letters ** (length + 1))
        self.words = list(product(range(letters), repeat=length))
        number = {word: i for i, word in enumerate(self.words)}
        self.following = [
            [number[(*word, a)[1:]] for a in range(letters)]
            if length
            else [0] * letters
            for word in self.words
        ]
        self.images = [self._image(word) for word in self.words]
        self.paths = [self._from(u) for u in range(len(self.words))]

    def _spend(self, calls: int) -> None:
        self.budget.reserve("windows of letters", 0, calls)

    def _image(self, word: tuple[int, ...]) -> IntArray:
        states = np.arange(self.rows.shape[1])
        for letter in word:
            states = np.unique(self.rows[letter, states])
        return states

    def _from(self, u: int) -> list[IntArray]:
        reached: list[dict[tuple[int, ...], None]] = [{} for _ in self.words]
        begin = tuple(self.images[u].tolist())
        reached[u][begin] = None
        queue = [(u, begin)]
        for v, states in queue:
            for letter, row in enumerate(self.rows[:, list(states)].tolist()):
                after, then = self.following[v][letter], tuple(row)
                if then not in reached[after]:
                    reached[after][then] = None
                    queue.append((after, then))
            self._spend(len(self.rows))
        return [np.array(list(maps), dtype=np.int64) for maps in reached]


def _exchange(windows: _Windows) -> bool:
    """Whether prq and qrp act alike for all paths p, q: u → v and r: v → u."""
    for u, v in product(range(len(windows.words)), repeat=2):
        there, back = windows.paths[u][v], windows.paths[v][u]
        windows.budget.reserve(
            "paths of windows",
            there.size * len(there) * len(back),
            len(there) * len(back),
        )
        there_at = np.searchsorted(windows.images[v], there)
        back_at = np.searchsorted(windows.images[u], back)
        for p, p_at in zip(there, there_at, strict=True):
            for r_at in back_at:
                pr, rp = r_at[p_at], p[r_at]
                if (there[:, pr] != rp[there_at]).any():
                    return False
    return True


def least_threshold(language: Language, k: int, budget: Budget) -> int:
    """The least t such that counts of factors of k letters up to t decide.

    All words are followed by the counts of their factors, up to t, their first and last
    k − 1 letters, and the state: no two states may have all of the others in common.

    Raises:
        BudgetExceeded: If there are too many combinations.
    """
    t = 1
    while _ambiguous(language, k, t, budget):
        t += 1
    return t


def _ambiguous(language: Language, k: int, t: int, budget: Budget) -> bool:
    """Whether words with equal counts and ends lead to different states."""
    letters = len(language.machine.letters)
    if letters**k * log2(t + 1) + log2(language.states) > MOST_BITS:
        raise BudgetExceeded(f"counts up to {t} of {letters**k} factors", t)
    return any(
        _meet(language, k, t, start, budget)
        for start in product(range(letters), repeat=k - 1)
    )


def _meet(
    language: Language, k: int, t: int, start: tuple[int, ...], budget: Budget
) -> bool:
    """The search for all words that begin with one word of k − 1 letters."""
    rows = language.machine.transitions
    letters, n = rows.shape
    windows = letters ** (k - 1)
    place = (t + 1) ** np.arange(letters**k, dtype=np.int64)
    state = language.start
    for letter in start:
        state = int(rows[letter, state])
    window = sum(a * letters**i for i, a in enumerate(reversed(start)))
    frontier = np.array([window * n + state])
    known = frontier
    while len(frontier):
        rest, at = np.divmod(frontier, n)
        counts, last = np.divmod(rest, windows)
        after = []
        for letter in range(letters):
            factor = last * letters + letter
            digit = counts // place[factor] % (t + 1)
            more = counts + np.where(digit < t, place[factor], 0)
            after.append((more * windows + factor % windows) * n + rows[letter, at])
        frontier = np.setdiff1d(np.concatenate(after), known)
        known = np.union1d(known, frontier)
        if len(np.unique(known // n)) < len(known):
            return True
        entries = 10 * (len(known) + letters * len(frontier))
        budget.reserve("combinations of counts", entries, 20 * letters)
    return False
