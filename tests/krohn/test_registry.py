"""A name, or an object, leads to its kind of source, and to no other import."""

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.program.slices import slice_sources, source_examples
from krohn.source_kinds import KINDS, find_source, find_source_to_compile, may_name

FILES = Path(__file__).parents[2] / "examples"
NAMES = [name for kind in KINDS for name in source_examples(kind)]
FILE_NAMES = [str(path) for path in sorted(FILES.iterdir()) if path.is_file()]
OTHERS = [
    *krohn.zoo(),
    "SineTable.dot",
    "Power",
    "Exp",
    "Twin",
    "a.b:c",
    "",
    "regex:a*",
]


@pytest.mark.slow
def test_a_kind_that_knows_a_name_is_asked() -> None:
    for name, (wire, kind) in product([*NAMES, *FILE_NAMES, *OTHERS], KINDS.items()):
        try:
            known = kind.find_by_name(name) is not None
        except KrohnError:  # this kind knows the form, and refuses a number
            known = name not in OTHERS
        assert not known or may_name(slice_sources()[wire], name), (name, wire)


@pytest.mark.sample(13)
@pytest.mark.parametrize("name", NAMES)
def test_a_source_is_of_the_kind_of_its_name(name: str) -> None:
    other = find_source(name)
    assert other is not None
    kind, source = other
    assert name in source_examples(kind.wire)
    again = find_source(source)
    assert again is not None
    assert again[0] is kind
    assert again[1] is source
    assert (find_source_to_compile(name) is None) == kind.is_machine(source)


def test_every_machine_of_the_zoo_is_a_machine() -> None:
    assert [
        name
        for name in krohn.zoo()
        if find_source(name) or find_source(krohn.zoo(name))
    ] == []


def test_the_kinds_are_named_as_in_model_files() -> None:
    assert [kind.wire for kind in KINDS.values()] == list(KINDS)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "kind", [k for k, e in slice_sources().items() if e.of_machines]
)
def test_constructions_that_take_machines_are_named_as_they_are_made(kind: str) -> None:
    construction = slice_sources()[kind].of_machines
    model = krohn.compile("C3", 4, construction)
    assert model.construction.startswith(construction)
    assert model.file.claim.kind == kind


def test_a_machine_is_compiled_without_other_kinds(tmp_path: Path) -> None:
    program = (
        "import sys; from krohn.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*(name for name in sys.modules if 'source' in name))"
    )
    out = str(tmp_path / "f.safetensors")
    how = ["compile", "FlipFlop", "-T", "8", "-o", out]
    done = subprocess.run(
        [sys.executable, "-c", program, *how],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    kinds = {entry.commands.partition(":")[0] for entry in slice_sources().values()}
    assert not loaded & (kinds | {"krohn.kinds.hidden_markov.source"})
