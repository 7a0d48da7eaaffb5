"""Each class is what its definition says, decided word by word."""

from functools import cache
from itertools import product
from types import ModuleType

import numpy as np
import pytest

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification import Property
from krohn.algebra.classification.languages import LanguageClasses, classify_language
from krohn.algebra.zoo import machine

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 24))]
COUNT = 25


def classes(a: Automaton) -> LanguageClasses:
    return classify_language(a, Budget(60_000, 5_000))


def agrees(found: Property, wanted: list[bool]) -> bool:
    """Whether a class holds with the k of the definition, as far as that was tried."""
    if not found.holds:
        return found.holds is False and not any(wanted)
    assert found.witness is not None
    return wanted == [k >= found.witness["k"] for k in range(1, len(wanted) + 1)]


@cache
def batches(definitions: ModuleType, seed: int) -> list[tuple[list, list]]:
    """Machines of one shape, with their classes."""
    made = definitions.by_shape(definitions.languages(seed, COUNT))
    return [(group, [classes(a) for a in group]) for group in made]


def longest(letters: int, two: int, three: int) -> range:
    return range(1, 1 + (two if letters == 2 else three))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_which_factors_and_subsequences_occur(
    definitions: ModuleType, seed: int
) -> None:
    """Which of them occur, and with k the least one."""
    for group, found in batches(definitions, seed):
        letters = len(group[0].letters)
        local = [definitions.local(letters, k) for k in longest(letters, 3, 2)]
        piece = [definitions.piecewise(letters, k) for k in longest(letters, 4, 2)]
        tests = {
            "locally testable": (definitions.decides, local),
            "strictly local": (definitions.strictly, local),
            "piecewise testable": (definitions.decides, piece),
            "strictly piecewise": (definitions.strictly, piece),
        }
        for name, (test, tables) in tests.items():
            wanted = np.array([test(group, given) for given in tables]).T
            for a, named, holds in zip(group, found, wanted.tolist(), strict=True):
                assert agrees(named[name], holds), (name, a, holds)


@pytest.mark.parametrize("seed", SEEDS)
def test_how_often_factors_occur(definitions: ModuleType, seed: int) -> None:
    for group, found in batches(definitions, seed):
        letters = len(group[0].letters)
        most = ((1, 4), (2, 3)) if letters == 2 else ((1, 3),)
        sizes = [(k, t) for k, high in most for t in range(1, high + 1)]
        for k, t in sizes:
            holds = definitions.decides(group, definitions.counted(letters, k, t))
            for named, wanted in zip(found, holds.tolist(), strict=True):
                check_counts(named["locally threshold testable"], k, t, wanted)


def check_counts(found: Property, k: int, t: int, wanted: bool) -> None:
    """The least k, and for it the least t; a search that was cut short leaves them out."""
    least = (found.witness or {}).get("k", k) if found.holds else k + 1
    if least > k:
        assert not wanted
    elif least == k and "t" in (found.witness or {}):
        assert wanted == (t >= found.witness["t"])


@pytest.mark.parametrize("seed", SEEDS)
def test_sequences_of_factors(definitions: ModuleType, seed: int) -> None:
    """Sequences of few short factors decide languages of dot-depth one."""
    some = 0
    for group, found in batches(definitions, seed):
        letters = len(group[0].letters)
        sizes = ((1, 2), (2, 1), (2, 2)) if letters == 2 else ((1, 2), (2, 1))
        for k, m in sizes:
            holds = definitions.decides(group, definitions.mixed(letters, k, m))
            for named, wanted in zip(found, holds.tolist(), strict=True):
                assert named["piecewise locally testable"].holds or not wanted
                some += wanted
    assert some


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(2))
def test_letters_outside_the_tier(definitions: ModuleType, seed: int) -> None:
    """A letter that may occur anywhere changes no class based on a tier, and no k."""
    rng = np.random.default_rng(seed)
    for inner in definitions.languages(seed, 6):
        if len(inner.letters) > 2:
            continue
        rows = np.insert(
            inner.transitions,
            int(rng.integers(3)),
            np.arange(len(inner.states)),
            axis=0,
        )
        whole = definitions.acceptor(rows, definitions.accepts(inner), inner.start)
        found, alone = classes(whole), classes(inner)
        for name in (
            "strictly local",
            "locally testable",
            "locally threshold testable",
        ):
            same(found[f"tier-based {name}"], alone[f"tier-based {name}"])
            if found[name].holds:
                least = found[f"tier-based {name}"].witness["k"]
                assert least <= found[name].witness["k"]
        for name in ("strictly piecewise", "piecewise testable"):
            same(found[name], alone[name])


def same(one: Property, other: Property) -> None:
    assert one.holds is other.holds
    if one.holds:
        assert one.witness["k"] == other.witness["k"]


@pytest.mark.slow
def test_forbidden_factors_do_not_occur(definitions: ModuleType) -> None:
    """And where all of them are printed, a word without them is in the language."""
    for a in definitions.languages(5, 15):
        named = classes(a)
        found = named["strictly local"]
        if not found.holds or len(a.letters) > 2 or named.alike:
            continue
        forbidden = found.witness["forbidden"]
        for length in range(7):
            for word in product(a.letters, repeat=length):
                marked = ("⋊", *word, "⋉")
                inside = any(
                    list(marked[i : i + len(part)]) == part
                    for part in forbidden
                    for i in range(len(marked) - len(part) + 1)
                )
                accepted = taken(a, word)
                assert not (inside and accepted)
                if len(forbidden) < 5:
                    assert inside or accepted


def test_forbidden_subsequences_decide(definitions: ModuleType) -> None:
    for a in definitions.languages(6, 15):
        named = classes(a)
        found = named["strictly piecewise"]
        if not found.holds or len(a.letters) > 2 or named.alike:
            continue
        forbidden = [tuple(part) for part in found.witness["forbidden"]]
        for length in range(7):
            for word in product(a.letters, repeat=length):
                inside = any(is_subsequence(part, word) for part in forbidden)
                assert not (inside and taken(a, word))
                if len(forbidden) < 5:
                    assert inside or taken(a, word)


def taken(a: Automaton, word: tuple[str, ...]) -> bool:
    state = a.start
    for letter in a.semiautomaton.encode(word).tolist():
        state = int(a.transitions[letter, state])
    assert a.output is not None
    return a.output.names[a.output.table[state]] == "accept"


def is_subsequence(part: tuple[str, ...], word: tuple[str, ...]) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in part)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(2))
def test_witnesses_against_what_is_strict(definitions: ModuleType, seed: int) -> None:
    shown = 0
    for a in definitions.languages(seed, 20):
        found = classes(a)
        local, piecewise = found["strictly local"], found["strictly piecewise"]
        if local.holds is False:
            shown += 1
            (u, v), (x, y) = local.witness["in"]
            for n in range(4):
                between = local.witness["factor"] * n
                assert taken(a, (*u, *between, *v))
                assert taken(a, (*x, *between, *y))
                assert not taken(a, (*local.witness["out"][0], *between, *y))
            assert local.witness["out"] == [u, y]
        if piecewise.holds is False:
            shown += 1
            word, part = (tuple(piecewise.witness[key]) for key in ("in", "out"))
            assert taken(a, word)
            assert not taken(a, part)
            assert is_subsequence(part, word)
    assert shown > 10


def test_machines_without_acceptance_are_asked_for_every_state() -> None:
    """Each language is a union of such sets, and each set a combination of languages."""
    names = [p.name for p in classes(machine("Memory3")).classes]
    assert "strictly local" not in names
    assert "strictly piecewise" not in names
    found = classes(machine("Memory3"))
    assert not found.acceptor
    assert found["tier-based locally testable"].witness == {"k": 2}
    assert found.tier == ("1", "2", "3")
