"""z3 says of gadgets, repaired and as printed, what their pieces in fractions say."""

from dataclasses import replace
from fractions import Fraction

import pytest
from gadget_table import ENTRIES, Entry

from krohn import gadgets
from krohn.gadgets import Gadget, printed
from krohn.instruments.gadgets.record import near
from krohn.instruments.smt.gadgets import decide

NONE, QUARTER, EIGHTH = Fraction(0), Fraction(1, 4), Fraction(1, 8)
RELUS = [
    e for e in ENTRIES if all(f == "relu" for a in e.made.layers for f, _ in a.runs)
]


@pytest.mark.sample(6)
@pytest.mark.parametrize("entry", RELUS, ids=lambda e: e.call)
def test_gadgets_are_right_for_all_real_inputs(entry: Entry) -> None:
    found = decide(entry.made, NONE, entry.made.error)
    assert (found.verdict, found.cases) == ("verified", len(entry.made.cases))
    if entry.printed is not None:
        assert decide(entry.printed, NONE, entry.printed.error).verdict == "refuted"


@pytest.mark.sample(3)
@pytest.mark.parametrize("entry", [e for e in RELUS if e.printed], ids=lambda e: e.call)
def test_an_error_that_the_pieces_say_is_the_worst(entry: Entry) -> None:
    assert entry.printed is not None
    worst = gadgets.largest_deviation(entry.printed).error
    assert decide(entry.printed, NONE, worst).verdict == "verified"
    less = decide(entry.printed, NONE, worst * Fraction(99, 100))
    assert less.verdict == "refuted"


def test_noise_is_beyond_the_ranges_of_a_case() -> None:
    made = gadgets.thermometer(3, QUARTER)
    assert decide(made, NONE, NONE).verdict == "verified"
    assert decide(made, EIGHTH, NONE).verdict == "refuted"


@pytest.mark.parametrize("largest", [2, 3])
def test_E12_gates_of_the_largest_value_leak(largest: int) -> None:
    found = decide(printed.composition(largest), NONE, NONE)
    assert found.verdict == "refuted"
    assert found.inputs is not None
    assert max(found.inputs[1:]) > largest


def test_E12_a_side_that_is_passed_on_is_not_rounded() -> None:
    made = gadgets.composition(2, noise=EIGHTH)
    whole = [near([g, 1, 2], EIGHTH, [g]) for g in (1, 2)]
    rounded = replace(made, cases=tuple(whole))
    assert decide(rounded, NONE, EIGHTH).verdict == "verified"
    assert decide(rounded, NONE, EIGHTH / 2).verdict == "refuted"


def counter(factor: int, start: int) -> Gadget:
    """Lemma 15: from Σ/(2T) to a sum and a start state modulo 3, T = 4."""
    points = [Fraction(s, 8) for s in range(9)]
    made = gadgets.table(points, [(s // factor + start) % 3 for s in range(9)])
    cases = [near([x], Fraction(1, 32), [(s + 1) % 3]) for s, x in enumerate(points)]
    return replace(made, cases=tuple(cases))


def test_E14_the_printed_counter_loses_the_factor_and_the_start_state() -> None:
    assert decide(counter(1, start=1), NONE, NONE).verdict == "verified"
    assert decide(counter(2, start=1), NONE, NONE).verdict == "refuted"
    assert decide(counter(1, start=0), NONE, NONE).verdict == "refuted"


def test_a_counterexample_belongs_to_its_case_and_is_wrong_there() -> None:
    asked = printed.threshold(1, 9)
    found = decide(asked, NONE, NONE)
    assert found.case is not None
    assert found.inputs is not None
    assert found.output is not None
    assert found.wanted is not None
    assert found.case.holds(found.inputs)
    assert list(asked.exact(found.inputs)) == list(found.output)
    assert list(found.output) != list(found.wanted)
