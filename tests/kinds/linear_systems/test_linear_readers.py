"""What reads files takes linear time, whatever they say."""

import re
import signal
import string
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from reader_patterns import ROOT, Use, pattern_uses

from krohn import machines
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import FORMATS, SUFFIXES
from krohn.algebra.formats.regex import from_regex
from krohn.program.slices import slice_sources

LENGTH = 10_000
SIGNS = (
    *string.punctuation,
    *string.whitespace,
    *(
        "a",
        "A",
        "0",
        "é",
        "ε",
        "∪",
        "ab",
        "# ",
        "//",
        " \\",
        '\\"',
        '"\\',
        "a,",
        "0 ",
        "0.",
    ),
    *(
        "a/",
        "a=",
        "a:",
        "()",
        "[a]",
        "<a>",
        "((",
        "[(",
        "{a",
        "\n#",
        "\n ",
        "\r\n",
        "a\n",
    ),
)
LIKE_OTHERS = (*string.ascii_letters, *string.digits)
"""Signs of which others of their kind are among `SIGNS`."""
ENDS = ("\x01", "", "!", "\n")
FAST, FAST_READER = 0.05, 0.2
"""CPU seconds that nothing need take longer than; what does is measured again."""
ACCEPTOR = from_regex("a*b")
WRITTEN = {s: form.write for s, form in SUFFIXES.items() if form.is_written}
RIGHT = {
    **{s: write(ACCEPTOR) for s, write in WRITTEN.items() if "kiss" not in s},
    **dict.fromkeys((".kiss2", ".kiss"), ".i 1\n.o 1\n1 p q 1\n1 q p 1\n- p p 1\n"),
    ".kalman": '{"A": [[1]],\n "B": [[1]]}\n',
    ".kernel": "1\n0.5\n0.25\n",
    ".csv": "state,a,b\n->p,p,q\n*q,q,p\n",
    ".tsv": "state\ta\tb\n->p\tp\tq\n*q\tq\tp\n",
    ".scxml": '<scxml>\n<state id="p">\n<transition event="a" target="p"/></state></scxml>',
    ".jff": "<structure>\n<type>fa</type>\n<state id='0'><initial/></state></structure>",
    ".aut": 'des (0, 2, 2)\n(0, "a", 1)\n(1, b, 0)\n',
    ".ba": "[0]\na,[0]->[1]\nb,[1]->[0]\n[1]\n",
    ".hoa": 'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "a"\nAcceptance: 1 Inf(0)\n'
    "--BODY--\nState: 0 {0}\n[0] 0\n--END--\n",
    ".mata": "@NFA-explicit\n%Initial q\n%Final r\nq a r\nr b q\n",
    **{
        "".join(path.suffixes): path.read_text(encoding="utf-8")
        for folder in ("examples", "kinds")
        for path in sorted((ROOT / folder).rglob("*.*"))
        if path.suffix in (".dp", ".rules", ".crasp", ".program", ".pcfg", ".pomdp")
    },
}
"""A file of each text format."""
TEXTS = {form.suffixes[0] for form in FORMATS}
TEXTS |= {s for entry in slice_sources().values() for s in entry.ends if s != ".npz"}


@cache
def long_text(unit: str, length: int = LENGTH) -> str:
    """The unit again and again."""
    return (unit * length)[:length]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail where something takes more CPU time; expressions look for signals."""

    def stop(*_: Any) -> None:
        raise AssertionError("it does not end")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def is_linear(run: Callable[[int], object], fast: float = FAST) -> bool:
    """Whether four times the length takes less than nine times the work."""

    def work(length: int, times: int = 1) -> float:
        taken = []
        for _ in range(times):
            begin = time.process_time()
            run(length)
            taken.append(time.process_time() - begin)
        return min(taken)

    if work(LENGTH) < fast:
        return True
    return work(4 * LENGTH, 2) < 9 * max(work(LENGTH, 3), fast / 4)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("units", [SIGNS, LIKE_OTHERS], ids=["signs", "like others"])
def test_expressions_of_readers_are_linear(units: Sequence[str], end: str) -> None:
    """Texts of one sign, or of two by turns, which no expression can share in many ways."""
    uses, wrong = pattern_uses(), []
    assert len(uses) > 100
    with at_most(100):
        for use in uses:
            for unit in units:
                if not is_linear(lambda n, u=unit, f=use: f.run(long_text(u, n) + end)):
                    wrong.append((use.place, use.method, unit))
                    break
    assert not wrong


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "pattern", [r"(?:\s|#[^\n]*|#)*x", r"(\d+)+y", r"\d+x", r"(?:a|b|ab)*!!"]
)
def test_expressions_that_are_not_linear_are_seen(pattern: str) -> None:
    use = Use(re.compile(pattern), "search", "here")
    with pytest.raises(AssertionError), at_most(0.2):
        assert all(is_linear(lambda n, u=u: use.run(long_text(u, n))) for u in SIGNS)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["alone", "begins", "inside", "ends"])
@pytest.mark.parametrize("units", [SIGNS, LIKE_OTHERS], ids=["signs", "like others"])
def test_readers_are_linear(tmp_path: Path, units: Sequence[str], place: str) -> None:
    """A long text alone, or as a line of an otherwise right file."""
    assert RIGHT.keys() >= TEXTS
    wrong = []
    with at_most(200):
        for suffix, unit in product(sorted(TEXTS | {".txt"}), units):
            path = tmp_path / f"m{suffix}"

            def read(length: int, unit: str = unit, path: Path = path) -> None:
                path.write_text(
                    with_line(path.name[1:], long_text(unit, length), place)
                )
                with suppress(KrohnError):
                    machines.read(path)

            if not is_linear(read, FAST_READER):
                wrong.append((suffix, unit))
    assert not wrong


def with_line(suffix: str, line: str, place: str) -> str:
    """A file of a format in which there is one line more; the line alone."""
    lines = RIGHT.get(suffix, RIGHT[".dot"]).splitlines()
    if place == "alone":
        return line
    at = {"begins": 0, "inside": len(lines) // 2, "ends": len(lines)}[place]
    return "\n".join([*lines[:at], line, *lines[at:], ""])
