"""Where the words of training lie on the axes of curves."""

from dataclasses import replace

import pytest

from krohn.compare.tasks import DyckPrefixes
from krohn.compare.tasks.catalogue import task
from krohn.comparison.sweeps import trained_spans


def test_letters_of_a_counter_are_one_in_half_of_the_places() -> None:
    spans = trained_spans(task("C2"), 32, "1")
    assert spans["length"] == (32, 32)
    assert spans["bias"] == pytest.approx((0.5, 0.5), abs=0.01)
    low, high = spans["count"] or (0, 0)
    assert 8 < low < 16 < high < 24
    assert low + high == pytest.approx(32, abs=1)


@pytest.mark.parametrize("opening", [None, 0.3, 0.8])
def test_brackets_open_as_often_as_their_words_say(opening: float | None) -> None:
    """Legal letters of two kinds open twice as often as they close."""
    asked = task("Dyck4,2")
    if opening is not None:
        asked = replace(asked, inputs=DyckPrefixes(opening, closed=False))
    spans = trained_spans(asked, 32, None)
    expected = opening or 2 / 3
    assert spans["opening"] == pytest.approx((expected, expected), abs=0.01)


def test_where_brackets_have_no_choice_there_is_no_share() -> None:
    assert trained_spans(task("Dyck1,2"), 8, None)["opening"] is None
    assert trained_spans(task("Dyck4,2"), 1, None)["opening"] is None


def test_a_flip_flop_has_no_share_of_letters() -> None:
    assert trained_spans(task("flip-flop"), 8, "1") == {"length": (8, 8)}
