"""The equations of the theorems, element by element, and programs that count."""

from itertools import pairwise, product
from types import ModuleType

import networkx as nx
import numpy as np
import pytest
import sympy

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification.languages import LanguageClasses, classify_language
from krohn.algebra.formats.regex import from_regex

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))]
MOST_ELEMENTS, MOST_STATES = 16, 5


def classes(a: Automaton) -> LanguageClasses:
    return classify_language(a, Budget(60_000, 5_000))


class Elements:
    """The syntactic semigroup, as a multiplication table."""

    def __init__(self, oracle: ModuleType, a: Automaton) -> None:
        self.rows = sorted(oracle.semigroup(a.semiautomaton))
        number = {x: i for i, x in enumerate(self.rows)}
        after = oracle.after
        self.times = np.array(
            [[number[after(x, y)] for y in self.rows] for x in self.rows]
        )
        size = range(len(self.rows))
        self.idempotents = [e for e in size if self.times[e, e] == e]
        self.omega = np.array([self._omega(x) for x in size])

    def _omega(self, x: int) -> int:
        power = x
        while self.times[power, power] != power:
            power = self.times[power, x]
        return power

    def aperiodic(self) -> bool:
        return all(self.times[w, x] == w for x, w in enumerate(self.omega))

    def threshold(self) -> bool:
        """Beauquier and Pin: e·x·f·y·e·z·f = e·z·f·y·e·x·f."""
        t = self.times
        for e, f in product(self.idempotents, repeat=2):
            there, back = t[t[e], f], t[t[f], e]
            both = t[t[np.ix_(there, back)][:, :, None], there[None, None]]
            if (both != both.transpose(2, 1, 0)).any():
                return False
        return self.aperiodic()

    def dot_depth_one(self) -> bool:
        """Knast: (rs)^ω·r·v·(uv)^ω = (rs)^ω·(uv)^ω."""
        t = self.times
        for e, f in product(self.idempotents, repeat=2):
            there, back = np.unique(t[t[e], f]), np.unique(t[t[f], e])
            omega = self.omega[t[np.ix_(there, back)]]
            for (i, r), a in product(enumerate(there), np.arange(len(back))):
                first = omega[i, a]
                left = t[t[t[first, r], back][None], omega]
                if (left != t[first, omega]).any():
                    return False
        return True

    def single(self) -> bool:
        """No two idempotents have the same right ideal, the identity among them."""
        pairs = product(self.idempotents, repeat=2)
        t = self.times
        return not any(e != f and t[e, f] == f and t[f, e] == e for e, f in pairs)


def counting(a: Automaton) -> bool:
    """C-RASP by simple cycles and null spaces, one component after the other."""
    graph = nx.MultiDiGraph()
    for letter, row in enumerate(a.transitions.tolist()):
        graph.add_edges_from((q, p, letter) for q, p in enumerate(row))
    parts = nx.strongly_connected_components(graph)
    return all(told_apart(a, sorted(part)) for part in parts if len(part) > 1)


def told_apart(a: Automaton, part: list[int]) -> bool:
    label = {(q, x): (x,) for q in part for x in range(len(a.letters))}
    ends = {(q, x): int(a.transitions[x, q]) for q, x in label}
    inside = nx.DiGraph((q, p) for (q, _), p in ends.items() if p in part)
    cycles = [
        edges
        for cycle in nx.simple_cycles(inside)
        for edges in product(
            *(
                [(q, x) for x in range(len(a.letters)) if ends[q, x] == p]
                for q, p in zip(cycle, cycle[1:] + cycle[:1], strict=True)
            )
        )
    ]
    paths = nx.single_source_shortest_path(inside, part[0])
    count = 0
    while len(set(label.values())) > count:
        count = len(set(label.values()))
        names = {
            name: i for i, name in enumerate(sorted(set(label.values()), key=repr))
        }
        rows = sympy.zeros(len(cycles), len(names))
        for i, cycle in enumerate(cycles):
            for edge in cycle:
                rows[i, names[label[edge]]] += 1
        sums = {}
        for q, path in paths.items():
            steps = pairwise(path)
            taken = [
                next(e for e in ends if e[0] == u and ends[e] == v) for u, v in steps
            ]
            sums[q] = tuple(
                sum(weight[names[label[edge]]] for edge in taken)
                for weight in rows.nullspace()
            )
        label = {edge: (name, sums[edge[0]]) for edge, name in label.items()}
    return len(
        {frozenset(label[q, x] for x in range(len(a.letters))) for q in part}
    ) == (len(part))


@pytest.mark.parametrize("seed", SEEDS)
def test_equations(oracle: ModuleType, definitions: ModuleType, seed: int) -> None:
    held: dict[str, set[bool]] = {}
    for a in definitions.languages(100 + seed, 12):
        elements, found = Elements(oracle, a), classes(a)
        wanted = {
            "star-free": elements.aperiodic(),
            "R∘G": elements.single(),
            "R∞": elements.aperiodic() and elements.single(),
        }
        if len(a.states) <= MOST_STATES:
            wanted["C-RASP"] = counting(a)
        if len(elements.rows) <= MOST_ELEMENTS:
            wanted["locally threshold testable"] = elements.threshold()
            wanted["piecewise locally testable"] = elements.dot_depth_one()
        for name, holds in wanted.items():
            assert found[name].holds is holds, (name, a)
            held.setdefault(name, set()).add(holds)
        chain = [found[name].holds for name in ("R", "C-RASP", "R∞", "R∘G")]
        assert chain == sorted(chain)
    # Not every sample has languages on both sides of every class.
    assert seed or all(values == {True, False} for values in held.values())


@pytest.mark.slow
def test_witnesses_of_refutations(definitions: ModuleType) -> None:
    """Words that break an equation break it, read letter by letter."""
    seen = set()
    examples = [from_regex(p) for p in ("c*(ac*bc*)*", "a*cb*ga*db*")]
    for a in [*examples, *definitions.languages(200, 30)]:
        for found in classes(a).classes:
            kind = frozenset(found.witness or ())
            if found.holds is False and kind in WITNESSES:
                seen.add(kind)
                WITNESSES[kind](a, found.witness)
    assert seen == set(WITNESSES)


def act(a: Automaton, *words: list[str]) -> list[int]:
    states = np.arange(len(a.states))
    for letter in a.semiautomaton.encode([x for word in words for x in word]).tolist():
        states = a.transitions[letter][states]
    return states.tolist()


def check_threshold(a: Automaton, w: dict) -> None:
    e, f, p, q, r = (w[key] for key in "efpqr")
    assert act(a, e, e) == act(a, e)
    assert act(a, f, f) == act(a, f)
    for x, first, last in ((p, e, f), (q, e, f), (r, f, e)):
        assert act(a, first, x) == act(a, x) == act(a, x, last)
    assert act(a, p, r, q) != act(a, q, r, p)


def check_knast(a: Automaton, w: dict) -> None:
    e, f = w["e"], w["f"]
    alpha, rho, lam, beta = (w[key] for key in "αρλβ")
    for x in (e, f, alpha, beta):
        assert act(a, x, x) == act(a, x)
    assert act(a, e, alpha) == act(a, alpha) == act(a, alpha, e)
    assert act(a, e, beta) == act(a, beta) == act(a, beta, e)
    assert act(a, alpha, rho) == act(a, rho) == act(a, rho, f)
    assert act(a, lam, beta) == act(a, lam) == act(a, f, lam)
    assert act(a, rho, lam) != act(a, alpha, beta)


def check_resets(a: Automaton, w: dict) -> None:
    both = [a.states.index(name) for name in w["states"]]
    for end, word in zip(both, w["resets"], strict=True):
        assert {act(a, word)[q] for q in both} == {end}


WITNESSES = {
    frozenset("efpqr"): check_threshold,
    frozenset("efαρλβ"): check_knast,
    frozenset({"states", "resets"}): check_resets,
}


@pytest.mark.parametrize(
    ("pattern", "holds", "fails"),
    [
        ("(ab)*", ["strictly local", "C-RASP"], ["R", "piecewise testable"]),
        ("(aa)*", ["R∘G"], ["star-free", "R∞", "C-RASP", "locally testable"]),
        ("a*b*c*d*", ["strictly local", "strictly piecewise", "R"], []),
        ("(b|c)*(a(b|c)*)?", ["strictly piecewise", "locally threshold testable"], []),
        ("(a|b|c)*a(a|b|c)*b(a|b|c)*", ["piecewise testable"], ["strictly local"]),
        ("(a|b|c)*aa(a|b|c)*", ["locally testable"], ["strictly local", "R∘G"]),
        ("(a|b)*a(a|b)(a|b)", ["strictly local", "star-free"], ["R", "R∘G"]),
        ("bccb(aa)*", ["R∘G"], ["star-free", "locally threshold testable"]),
        ("(b|c|ab|ac)*a?", ["strictly local"], ["C-RASP", "R∞"]),
        ("(aa|bb)*", ["R∘G"], ["star-free", "C-RASP"]),
    ],
)
def test_known_languages(pattern: str, holds: list[str], fails: list[str]) -> None:
    found = classes(from_regex(pattern))
    assert all(found[name].holds for name in holds)
    assert all(found[name].holds is False for name in fails)


@pytest.mark.sample(1)
@pytest.mark.parametrize("depth", [1, 3, 30, 150])
def test_counting_tells_bounded_depth(depth: int) -> None:
    """One kind of bracket of bounded depth: one round of one count."""
    rows = np.full((2, depth + 2), depth + 1)
    rows[0, :depth], rows[1, 1 : depth + 1] = np.arange(depth) + 1, np.arange(depth)
    output = Output("states", (np.arange(depth + 2) > 0) * 1, ("accept", "reject"))
    names = tuple(str(i) for i in range(depth + 2))
    brackets = Automaton(Semiautomaton(rows, ("(", ")"), names), 0, output)
    found = classes(brackets)["C-RASP"]
    assert found.holds
    assert found.witness["rounds"] == 1
    (weights,) = found.witness["components"][0]["counts"]
    assert weights["("] == -weights[")"] != 0


def test_brackets_of_two_kinds_need_counts_of_counts() -> None:
    found = classes(zoo.machine("Dyck4,2"))["C-RASP"]
    assert found.holds
    assert found.witness["rounds"] > 1
