"""Results as JSON, and back by the types of their fields."""

from dataclasses import dataclass

import pytest

from krohn.program.errors import KrohnError
from krohn.program.results import from_object, to_object


@dataclass(frozen=True)
class Scores:
    """What was kept, and a field that was added later."""

    errors: tuple[float, ...]
    accuracies: tuple[float, ...] = ()


def test_a_field_that_was_added_later_may_be_missing() -> None:
    assert from_object(Scores, {"errors": [1.5]}, "scores") == Scores((1.5,))


def test_what_is_written_is_read() -> None:
    scores = Scores((1.0, 2.0), (0.5,))
    assert from_object(Scores, to_object(scores), "scores") == scores


@pytest.mark.parametrize("stated", [{}, {"errors": [], "more": 1}, {"accuracies": []}])
def test_a_field_without_default_is_needed_and_no_other_is_known(
    stated: dict[str, object],
) -> None:
    with pytest.raises(KrohnError, match="damaged at its field"):
        from_object(Scores, stated, "scores")
