"""The page of a comparison: what is on it, where lines go, and names that stay names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import unescape

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sample_comparison import LEVELS, sample, score

from krohn.instruments.compare.comparison.result import (
    KEYS,
    Curve,
    Sweep,
    Training,
)
from krohn.instruments.compare.comparison.sweeps import trained_spans
from krohn.instruments.compare.draw_comparison_page import (
    SHADES,
    amount,
    duration,
    heat_map,
    render,
    summary,
)
from krohn.instruments.compare.draw_curves import (
    HEIGHT,
    INSIDE,
    LABEL_STEP,
    WIDTH,
    Chart,
    Rows,
    accuracy_charts,
    doubles,
    training_charts,
)
from krohn.instruments.compare.measures import (
    Rate,
    spread,
)
from krohn.instruments.compare.tasks import DyckPrefixes
from krohn.instruments.compare.tasks.catalogue import task

PLACES = st.lists(st.integers(1, 200), min_size=2, max_size=12, unique=True)
SHARES = st.floats(0.0, 1.0)


@cache
def sample_page() -> str:
    """The page of the sample."""
    return render(sample())


def test_the_terminal_says_how_many_variables_the_page_shows() -> None:
    found = sample()
    (table,) = found.further_tables()
    (_, *columns), *rows = table
    assert columns == ["all", "used", "partly", "readable"]
    text = " ".join(re.sub("<[^>]*>", "", sample_page()).split())
    for probed, (title, every, used, partly, readable) in zip(
        found.probes, rows, strict=True
    ):
        assert title == probed.title
        assert f"{every} variables of derived networks were looked for" in text
        assert f"Shown to be used: {used}. Shown to be used in part: {partly}." in text
        assert f"but no use is shown: {readable}." in text
    assert replace(found, probes=()).further_tables() == ()


def test_every_number_of_the_table_is_on_the_page() -> None:
    found, page = sample(), sample_page()
    for row in summary(found):
        assert row.title in page
        assert all(entry.main.replace(">", "&gt;") in page for entry in row.entries)
    assert found.origin.command in page
    assert found.origin.commit in page


@pytest.mark.slow
def test_notebooks_frame_the_page() -> None:
    found = sample()
    shown = found._repr_html_()
    assert shown.count("<") == 2
    assert unescape(shown.split('"')[1]) == sample_page()
    assert "\n" not in repr(found)


@pytest.mark.slow
def test_letters_of_words_are_texts() -> None:
    found = sample()
    hostile = "<img src=x onerror=alert(1)>"
    (_, gpt, *_) = found.contestants
    failure = gpt.ones[0].failure
    assert failure is not None
    word = replace(failure, word=(hostile,) * 5, replay=hostile, searched=hostile)
    ones = tuple(replace(one, failure=word) for one in gpt.ones)
    changed = replace(gpt, ones=ones, title=hostile, about=hostile)
    others = (found.contestants[0], changed, *found.contestants[2:])
    page = render(replace(found, contestants=others, task=hostile, inputs=hostile))
    assert hostile not in page
    assert "&lt;img src=x" in page


@pytest.mark.slow
def test_a_comparison_without_probes_training_and_maps_has_a_page() -> None:
    found = replace(sample(), probes=(), maps=None, strategies=(), reductions=())
    bare = tuple(
        replace(c, ones=tuple(replace(o, training=None) for o in c.ones))
        for c in found.contestants
    )
    page = render(replace(found, contestants=bare))
    assert "Which algorithm?" not in page
    assert "What heads look at" not in page


# --- charts ---------------------------------------------------------------------------


def labels(chart: Chart) -> list[tuple[float, float]]:
    label = r'class="label">\s*<text [^>]* x="([\d.]+)" y="([\d.]+)"'
    found = re.findall(label, chart.picture)
    return [(float(x), float(y)) for x, y in found]


def lines(chart: Chart, key: str) -> list[str]:
    """The paths in the colour of a network."""
    stroked = rf'<path d="([^"]*)"[^>]*style="fill: none; [^"]*stroke: var\(--{key}\)'
    return re.findall(stroked, chart.picture)


def drawn(at: Sequence[float], curves: Mapping[str, Rows], loss: bool = False) -> Chart:
    """A chart of accuracies, or of losses while training."""
    if not loss:
        rows = tuple(Curve(k, tuple(map(tuple, v))) for k, v in curves.items())
        place = Sweep("title", "axis", "{}", tuple(at), None, None, 1, rows)
        (chart,) = accuracy_charts(replace(sample(), sweeps=(place,)))
        return chart
    steps = tuple(map(int, at))
    ones = [Training(steps, row, row, 1.0, "") for row in curves["gpt"]]
    gpt = sample().contestants[1]
    ran = replace(gpt, ones=tuple(replace(gpt.ones[0], training=o) for o in ones))
    chart, _ = training_charts(replace(sample(), contestants=(ran,)))
    return chart


@pytest.mark.slow
@settings(max_examples=5)
@given(PLACES, st.data())
def test_lines_lie_within_their_frame_and_labels_apart(
    places: list[int], data: st.DataObject
) -> None:
    at = [float(p) for p in sorted(places)]
    row = st.tuples(*[st.none() | SHARES for _ in at])
    keys = data.draw(st.sets(st.sampled_from(KEYS), min_size=1))
    curves = {key: data.draw(st.tuples(row, row)) for key in keys}
    chart = drawn(at, curves)
    known = [
        k for k, runs in curves.items() if any(v is not None for r in runs for v in r)
    ]
    width, height = 72 * WIDTH, 72 * HEIGHT
    ends = labels(chart)
    assert len(ends) == len(known)
    assert all(0 < x < width and 0 < y < height for x, y in ends)
    apart = LABEL_STEP * INSIDE[3] * height
    assert all(gap >= apart - 1e-3 for gap in np.diff(sorted(y for _, y in ends)))
    for key in known:
        for text in lines(chart, key):
            points = re.findall(r"[ML] ([\d.]+) ([\d.]+)", text)
            assert all(0 <= float(x) <= width for x, _ in points)
            assert all(0 <= float(y) <= height for _, y in points)


def test_a_line_stops_where_nothing_is_known() -> None:
    chart = drawn([1.0, 2.0, 3.0, 4.0], {"gpt": ((1.0, 1.0, None, 0.0),)})
    (path,) = lines(chart, "gpt")
    assert path.count("M") == 2


def test_marks_beyond_the_axis_stay_in_the_picture() -> None:
    found = sample()
    wide = replace(found.sweeps[0], at=(8.0, 16.0), trained=(1.0, 90.0), curves=())
    (chart,) = accuracy_charts(replace(found, sweeps=(wide,)))
    (x,) = re.findall(r'<text [^>]* x="([\d.]+)"[^>]*>trained<', chart.picture)
    assert float(x) == pytest.approx(72 * WIDTH * (INSIDE[0] + INSIDE[2] / 2), abs=1)


@pytest.mark.sample(1)
@pytest.mark.parametrize("values", [(0.5, 0.1, 1e-9), (0.0, 0.0, 0.0), (2.0, 2.0, 2.0)])
def test_losses_have_a_chart(values: tuple[float, ...]) -> None:
    chart = drawn([0, 10, 20], {"gpt": (values,)}, loss=True)
    assert len(lines(chart, "gpt")) == bool(max(values))


@pytest.mark.parametrize(
    ("at", "ratios"),
    [
        ((8, 16, 32, 64, 128), True),
        ((0, 8, 16, 32, 64), False),
        ((1, 2, 3, 4, 5), False),
        ((0.05, 0.5, 0.95), False),
        ((32,), False),
    ],
)
def test_only_places_that_double_are_drawn_by_their_ratios(
    at: tuple[float, ...], ratios: bool
) -> None:
    assert doubles(at) == ratios


@pytest.mark.slow
def test_names_along_an_axis_are_texts_and_no_mathematics() -> None:
    found = sample()
    named = replace(found.sweeps[0], axis="$x$ of <b>", title="<i>", remark="<u>")
    page = render(replace(found, sweeps=(named,)))
    assert "$x$ of &lt;b&gt;" in page
    assert not {"<b>", "<i>", "<u>"} & set(re.findall("<.>", page))


# --- the map --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "control", "gain", "shade"),
    [
        (1.0, 0.5, 1.0, SHADES),
        (0.9, 0.9, 0.8, 0),
        (0.9, 0.5, 0.0, 0),
        (0.4, 0.3, -0.2, 0),
    ],
)
def test_only_what_does_not_come_free_is_dark(
    read: float, control: float, gain: float, shade: int
) -> None:
    (gpt, _) = sample().probes
    first = gpt.found.rows[0]
    trained = replace(score(read), control=control)
    cell = replace(first.cells[1], trained=trained, gain=gain)
    row = replace(first, cells=(first.cells[0], cell))
    (shown,) = heat_map(replace(gpt, found=replace(gpt.found, rows=(row,)))).rows
    assert shown.spots[1].shade == shade


def test_what_is_used_comes_first() -> None:
    (gpt, _) = sample().probes
    turned = replace(gpt, found=replace(gpt.found, rows=gpt.found.rows[::-1]))
    held = replace(turned.found, said=("letter (98% read, controls 3%): can be read.",))
    assert "best control" in heat_map(replace(turned, found=held)).numbers
    verdicts = [row.verdict for row in heat_map(turned).rows]
    assert verdicts == ["used", "partly used", "readable", "free"]
    assert [name for name, _ in heat_map(turned).exchanged] == [
        "number of ones mod 2",
        "number of ones mod 3",
    ]


# --- the table ------------------------------------------------------------------------


def test_every_contestant_has_a_place_in_every_row() -> None:
    assert {len(row.entries) for row in summary(sample())} == {len(LEVELS)}


def test_sizes_and_times_have_units() -> None:
    assert amount(1_234_567) == "1.23 M"
    assert amount(12) == "12"
    assert duration(0.00123) == "1.23 ms"
    assert duration(61.5) == "61.5 s"
    assert duration(1530) == "25.5 min"
    assert duration(None) == "–"


def test_two_perfect_seeds_are_not_said_to_be_certain() -> None:
    """The interval is that of 2,048 words without an error, not one without width."""
    found = sample()
    rate = Rate(2048 * 32, 2048 * 32, 0.9982, 1.0)
    one = replace(found.contestants[2].ones[0], token=rate)
    lstm = replace(
        found.contestants[2],
        ones=(one, replace(one, seed=1)),
        token=spread([1.0, 1.0]),
    )
    shown = summary(replace(found, contestants=(lstm,)))[0].entries[0]
    assert shown.main == "100 %"
    assert shown.small == "all 2 seeds; one of them [99.82, 100]"


def test_exchanges_say_what_is_read_of_what_they_need() -> None:
    shown = '<td data-label="read from the exchanged part" class="number">98.0 %</td>'
    assert shown in sample_page()


def test_which_algorithm_opens_with_a_sentence_that_counts() -> None:
    found, page = sample(), sample_page()
    for probed in found.probes:
        rows = [row for row in probed.found.rows if row.kind != "reference"]
        used = sum(row.verdict == "used" for row in rows)
        said = (
            f"{len(rows)} variables of derived networks were looked for in it. Shown "
            f"to be used: {used}."
        )
        assert said in page


def test_the_trained_transformer_has_one_name() -> None:
    page = sample_page()
    assert ">GPT<" not in page
    assert "Transformer" in page


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
