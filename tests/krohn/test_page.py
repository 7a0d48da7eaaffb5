"""The page of a verdict: what is on it, bounds rounded outwards, names that stay names."""

import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import krohn
from krohn import cli
from krohn.algebra.budget import Budget
from krohn.algebra.formats import json_format
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.page.longest import LIMIT, _Search, longest
from krohn.page.rendering import at_least, at_most, sentence
from krohn.page.verification_page import (
    MOST_ROWS,
    Head,
    Sublayer,
    chart,
    margin,
    sublayers,
    worst_head,
)
from krohn.verify.proof import prove

T = 6
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)></title></style>',
    "{{ 7 * 7 }}&lt;b&gt;",
    "\u202eexe.png\x1b[31m",
    "a" * 300,
)
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section"),
    *("p", "h1", "h2", "h3", "span", "strong", "bdi", "dl", "div", "dt", "dd", "ul"),
    *("li", "table", "thead", "tbody", "tr", "th", "td", "pre", "figure"),
    *("figcaption", "img", "svg", "line", "text", "rect"),
}


class Seen(HTMLParser):
    """The tags, attributes and texts of a page, as a browser would find them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts += data


@pytest.fixture
def page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The page that a verification writes."""

    def call(file: ModelFile | Path, *options: object, code: int = 0) -> str:
        path, out = tmp_path / "m.safetensors", tmp_path / "out.html"
        if isinstance(file, ModelFile):
            modelfile.write(path, file.header, file.tensors)
        else:
            path = file
        arguments = ["verify", path, "--html", out, "--html-effort", 0, *options]
        assert cli.run([str(a) for a in arguments]) == code
        capsys.readouterr()
        return out.read_text()

    return call


@pytest.fixture(scope="module")
def grid() -> ModelFile:
    return krohn.compile("Grid4", T, "scan").file


def zeroed(file: ModelFile, name: str = "unembed.weight") -> ModelFile:
    tensors = {**file.tensors, name: np.zeros_like(file.tensors[name])}
    return ModelFile(file.header, tensors, file.precision)


# --- what is on it --------------------------------------------------------------------


def test_a_verified_network(
    page: Callable[..., str], grid: ModelFile, tmp_path: Path
) -> None:
    text = Seen(page(grid, "--proof", "--exhaustive", 3, "--sample", 8)).texts
    found = prove(grid, krohn.zoo("Grid4"))
    assert "words of length 6, and all shorter, in float32" in text
    assert "14 words of up to 3 letters, all there are: every answer" in text
    assert "8 words of up to 6 letters: every answer was right" in text
    worst = worst_head(sublayers(found.evidence))
    assert worst is not None
    assert f"leads by {at_least(worst.gap)}" in text
    assert f"at least {at_least(margin(found.evidence))}" in text
    for step in found.evidence:
        assert step.get("sublayer", "") in text.replace("Read-out", "read-out")
    assert "--exhaustive 3 --sample 8" in text
    data = (tmp_path / "m.safetensors").read_bytes()
    assert hashlib.sha256(data).hexdigest() in text
    assert f"krohn {krohn.__version__}" in text


@pytest.mark.slow
def test_a_refuted_network(page: Callable[..., str], grid: ModelFile) -> None:
    text = Seen(page(zeroed(grid), code=1)).texts
    assert "refuted: the network is wrong at letter 1" in text
    assert "Minimal: no shorter word fails" in text
    assert "krohn run --expect -- " in text
    assert "established before the proof stopped" in text


@pytest.mark.slow
def test_an_undecided_network(page: Callable[..., str]) -> None:
    file = krohn.compile("Grid4", 40, "scan").file
    header = {k: v for k, v in file.header.items() if k != "program"}
    text = Seen(page(ModelFile(header, file.tensors, file.precision), code=2)).texts
    assert "undecided: the file has no Program, and a proof needs one" in text
    assert "letters, all there are: every answer was right" in text
    assert "Limits of single heads" in text
    assert "There is no proof" in text


@pytest.mark.slow
def test_a_network_without_names(page: Callable[..., str], grid: ModelFile) -> None:
    header = {"architecture": grid.header["architecture"]}
    header |= {"machine": {}, "claim": {"dtype": "float32"}}
    file = ModelFile(header, grid.tensors, grid.precision)
    text = Seen(page(file, "--machine", "Grid4")).texts
    assert "taken in the order of those of the machine" in text
    assert "The file states no machine" in text


@pytest.mark.slow
def test_an_rnn(page: Callable[..., str]) -> None:
    text = Seen(page(krohn.compile("C3", arch="rnn").file)).texts
    assert "Right on all words of every length" in text
    assert "holds for every length" in text


@pytest.mark.slow
def test_a_generator(page: Callable[..., str]) -> None:
    text = Seen(page(krohn.compile_generator("Dyck2,2", 8).file)).texts
    assert "legal prefixes of up to 8 letters" in text
    assert "by the bounds of the proof" in text


@pytest.mark.slow
def test_what_z3_decides(page: Callable[..., str], grid: ModelFile) -> None:
    text = Seen(page(grid, "--smt", 2)).texts
    assert "the ideal network" in text
    assert "z3-solver" in text


# --- names stay names -----------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile() -> ModelFile:
    size = len(HOSTILE)
    stated = {
        **json_format.to_object(krohn.zoo("C2")),
        "name": HOSTILE[0],
        "letters": list(HOSTILE),
        "states": [f"<i>{name}" for name in HOSTILE],
        "start": f"<i>{HOSTILE[0]}",
        "transitions": ((np.arange(size)[:, None] + np.arange(size)) % size).tolist(),
    }
    file = krohn.compile(json_format.from_object(stated), 3, "scan").file
    header = json.loads(json.dumps(file.header).replace("back1[", "<img src=y>["))
    header["construction"] = "<marquee>"
    return ModelFile(header, file.tensors, file.precision)


@pytest.mark.sample(1)
@pytest.mark.parametrize("right", [True, False], ids=["verified", "refuted"])
def test_names_never_become_markup(
    page: Callable[..., str], hostile: ModelFile, right: bool
) -> None:
    file = hostile if right else zeroed(hostile)
    found = Seen(page(file, code=0 if right else 1))
    assert found.tags <= TAGS
    assert not {name for name in found.attributes if name.startswith("on")}
    for name in (HOSTILE[0], "<i>" + HOSTILE[0][:20], "<marquee>", "<img src=y>"):
        assert name in found.texts
    assert not set("\u202e\x1b") & set(found.texts)


@pytest.mark.slow
def test_it_asks_for_nothing(page: Callable[..., str], hostile: ModelFile) -> None:
    text = re.sub(r'"data:[^"]*"', '""', page(hostile))
    assert not re.search(
        r"(src|href|url|@import)\s*[=(]\s*[\"']?[^\"']", text.split("<style>")[0]
    )
    assert "default-src 'none'" in text
    assert "://" not in text


# --- files ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_page_is_written_whole_or_not_at_all(
    grid: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "m", tmp_path / "out.html"
    modelfile.write(path, grid.header, grid.tensors)
    out.write_text("before")

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)
    assert cli.run(["verify", str(path), "--html", str(out), "--html-effort=0"]) == 2
    assert out.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_other_names_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    assert cli.run(["verify", "missing", "--html", str(tmp_path / "a.pdf")]) == 2
    assert list(tmp_path.iterdir()) == []


# --- numbers --------------------------------------------------------------------------


def value(shown: str) -> float:
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, exponent = shown.partition(" · 10")
    return float(f"{mantissa}e{exponent.translate(raised) or 0}")


@given(st.floats(-1e300, 1e300, allow_subnormal=False))
def test_bounds_are_rounded_outwards(bound: float) -> None:
    low, high = value(at_least(bound)), value(at_most(bound))
    assert low <= bound <= high
    assert high - low <= 0.011 * abs(bound)


@given(
    st.lists(
        st.tuples(st.floats(0, 0.5), st.floats(0, 15.9), st.floats(0, 0.124)),
        min_size=1,
        max_size=60,
    )
)
def test_bars_end_before_the_limit_and_grow_with_shares(
    numbers: list[tuple[float, float, float]],
) -> None:
    layers = [
        Sublayer(f"{i}", (Head(f"{i}", "x", 32.0, error, leak, noise),), noise)
        for i, (noise, error, leak) in enumerate(numbers)
    ]
    drawn = chart(layers)
    bars = [bar for row in drawn.rows for bar in row.bars]
    assert len(drawn.rows) + drawn.hidden == len(layers)
    assert len(drawn.rows) <= MOST_ROWS
    assert all(0 <= bar.width <= 100 for bar in bars)
    assert all((bar.width == 0) == (bar.value == 0) for bar in bars)
    ordered = sorted(bars, key=lambda bar: bar.value)
    widths = [bar.width for bar in ordered]
    assert widths == sorted(widths)


# --- longest words --------------------------------------------------------------------


@given(st.integers(0, 2 * LIMIT), st.integers(1, 2 * LIMIT))
def test_the_search_ends_beside_the_longest(most: int, start: int) -> None:
    search = _Search(lambda length: int(length <= most), Budget(), start, 1)
    found = search.run("float32", own=False)
    assert found.length <= min(most, LIMIT)
    if found.open:
        assert found.length == LIMIT
    else:
        assert found.refused is not None
        assert found.length <= most < found.refused
        assert found.refused - found.length <= max(1, found.length // 100)


def test_without_effort_only_the_file_itself_counts(grid: ModelFile) -> None:
    lines = longest(grid, True, effort=0)
    assert not isinstance(lines, str)
    own = {line.dtype: (line.length, line.open) for line in lines}
    assert own["float32"] == (T, True)
    assert own["float64"] == (0, False)
    assert "too much work" in lines[0].how


def test_the_work_that_is_left_decides_and_no_clock(grid: ModelFile) -> None:
    tried: list[int] = []

    def probe(length: int) -> int:
        tried.append(length)
        return 1_000 * length

    # 14,000, 26,000, 42,000 and 74,000 steps; 128 letters would take 138,000 more.
    search = _Search(probe, Budget(180_000), 8, 8_000)
    assert search.run("float32", own=False) == _Search(
        probe, Budget(180_000), 8, 8_000
    ).run("float32", own=False)
    assert tried == 2 * [8, 16, 32, 64]
    assert search.budget.spent < 180_000


@pytest.mark.slow
def test_what_is_found_is_what_compiling_finds() -> None:
    file = krohn.compile("C2", 4, "counter", dtype="bfloat16").file
    lines = longest(file, True, effort=1_000_000)
    assert not isinstance(lines, str)
    (line,) = (line for line in lines if line.dtype == "bfloat16")
    assert (line.length, line.refused, line.open) == (6, 7, False)


def test_who_was_not_proved_has_no_longest_words(grid: ModelFile) -> None:
    assert "not proved" in str(longest(grid, False))


def test_what_a_sentence_quotes_is_code_and_nothing_else_is_a_tag() -> None:
    shown = sentence("`run` prints <b>; `<i>`")
    assert shown == (
        "<bdi><code>run</code> prints &lt;b&gt;; <code>&lt;i&gt;</code></bdi>"
    )
