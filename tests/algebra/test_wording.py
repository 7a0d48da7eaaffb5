"""Words for people."""

from algebra.wording import in_runs


def test_letters_in_a_row_are_powers() -> None:
    assert in_runs("1" * 128 + "0") == "1^128 0"
    assert in_runs(["coin", "push", "push"]) == "coin push^2"
    assert in_runs("") == ""
