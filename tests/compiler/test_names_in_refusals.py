"""Names that look like formats, and patterns that are long: refusals and no accidents."""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

import krohn
from krohn.compiler.constructions.departures import MOST_DEPARTURES
from krohn.compiler.constructions.registry import construction_names

NAMES = ("{3}", "{}", "{0}{1}", "%s %d", "{name}")
EXAMPLE = Path(__file__).parents[2] / "examples" / "turnstile.dot"


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [8, 40_000])
def test_a_name_is_never_a_format(name: str, length: int, tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, file := tmp_path / f"l{name}.dot")
    machine = krohn.read(file)
    assert name in machine.name
    for construction in construction_names():
        with suppress(krohn.KrohnError):
            krohn.compile(machine, length, construction, proof=False)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["a{3}b", "(ab){5}", "[ab]{2}c"])
def test_patterns_with_counts_are_compiled(pattern: str) -> None:
    assert krohn.compile(f"regex:{pattern}", 8).proof.verdict == "verified"


@pytest.mark.slow
def test_a_long_run_of_departures_is_refused_by_departures_alone() -> None:
    pattern = f"regex:{'a' * MOST_DEPARTURES}b*{'(a|b)' * 9}"
    with pytest.raises(krohn.KrohnError, match="departures in a row"):
        krohn.compile(pattern, 4, "departures", proof=False)
    assert krohn.compile(pattern, 4).proof.verdict == "verified"
