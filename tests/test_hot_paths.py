"""What `make speed` complains of; nothing here is timed."""

import hot_paths
import pytest
from hot_paths import (
    PATHS,
    HotPath,
    Sides,
    Work,
    committed_ratios,
    complaints,
    measured,
)

ROW = {"path": "a path", "beside": "numpy", "ratio": 1.0}


def test_a_ratio_is_committed_for_every_path() -> None:
    assert list(committed_ratios()) == [path.name for path in PATHS]


@pytest.mark.parametrize("committed", [0.5, 0.76, 1.0, 9.0])
def test_what_is_slower_by_more_than_a_third_is_a_line(committed: float) -> None:
    lines = complaints([ROW], {"a path": committed})
    assert len(lines) == (committed < 0.75)
    assert all("a path" in line and "numpy" in line for line in lines)


def test_a_path_without_a_ratio_is_a_line() -> None:
    assert complaints([ROW], {"another": 1.0}) == ["a path: no ratio is committed"]


def test_what_seems_slower_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ratios = iter([2.0, 1.2, 1.9, 1.0])
    monkeypatch.setattr(hot_paths, "ratio", lambda _: next(ratios))
    sides = Sides(lambda: None, lambda: None)
    one = HotPath("one", "numpy", lambda: sides)
    gone = HotPath("not installed", "numpy", lambda: None)
    (row,) = measured([one, gone], {"one": 1.0})
    assert row["ratio"] == 1.2
    assert [r["ratio"] for r in measured([one], {"one": 1.9})] == [1.9]


def test_a_ratio_is_of_one_call_of_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def seconds(work: Work) -> float:
        began = clock[0]
        work()
        return clock[0] - began

    def takes(time: float) -> Work:
        return lambda: clock.__setitem__(0, clock[0] + time)

    monkeypatch.setattr(hot_paths, "seconds", seconds)
    for ours, plain in ((3.0, 1.0), (0.001, 0.004), (0.3, 0.001)):
        found = hot_paths.ratio(Sides(takes(ours), takes(plain)))
        assert found == pytest.approx(ours / plain)
