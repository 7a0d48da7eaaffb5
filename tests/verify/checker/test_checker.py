"""The small checker accepts what is right with evidence, and nothing else."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.network.modelfile import ModelFile, pack
from krohn.program.errors import Refused
from krohn.verify.checker import sublayers, transformer
from krohn.verify.checker.arithmetic import UNDERFLOW
from krohn.verify.checker.mlp import Mlp
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.network import recheck
from krohn.verify.search.find import find, model_of

RIGHT: list[tuple[str, int, str, dict[str, Any]]] = [
    ("S3", 6, "scan", {"dtype": "bfloat16"}),
    ("C3", 10, "counter", {}),
    ("C2", 6, "counter", {"dtype": "float16"}),
    ("C5", 8, "counter", {"strict": True}),
    ("C6", 9, "product", {"dtype": "float64"}),
    ("FlipFlop", 40, "memory", {}),
    ("FlipFlop", 12, "memory", {"uniform": True}),
    ("FFLTracker2", 6, "window", {}),
    ("Grid4", 9, "gridworld", {}),
    ("Dyck2,2", 6, "dyck", {}),
    ("Dyck2,2", 6, "dyck", {"observe": "stack-top"}),
    ("D6", 8, "cascade", {}),
    ("Grid3", 7, "cascade", {}),
    ("Q8", 6, "wreath", {}),
    ("Parity8@2,3,7", 8, "parity-selected", {}),
    ("Grid3", 5, "memorising", {}),
    ("Adder", 8, "sequential", {"strict": True}),  # noise would grow were it kept
    ("D6", 6, "chunked", {}),
    ("regex:(a|b)*c(a|c)*b(b|c)*a(a|b)*", 9, "departures", {}),
    ("regex:(a|b)*c(a|c)*b(b|c)*a(a|b)*", 7, "departures", {"strict": True}),
    ("regex:a*b*c*d*", 8, "piecewise", {"dtype": "bfloat16"}),
    ("regex:bccb(aa)*", 12, "departures", {"dtype": "float64"}),
    ("C2", 3, "counter", {"activation": "sine", "dtype": "bfloat16"}),
    ("C5", 8, "counter", {"activation": "sine", "dtype": "float16"}),
    ("S3", 5, "cascade", {"activation": "sine", "dtype": "float64"}),
    ("Grid4", 9, "corridor", {"activation": "sine"}),
]


def model(name: str, length: int, how: str, **options: Any) -> ModelFile:
    """A compiled network."""
    return krohn.compile(name, length, how, **options).file


def packed(file: ModelFile) -> bytes:
    """Its file."""
    return pack(file.header, file.tensors)


def said(evidence: dict[str, Any]) -> bytes:
    """Evidence as it is written."""
    return json.dumps(evidence).encode()


@pytest.fixture(scope="module")
def counter() -> tuple[ModelFile, dict[str, Any]]:
    """A network with its evidence."""
    file = model("C3", 10, "counter")
    return file, find(packed(file))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "length", "how", "options"), RIGHT)
def test_evidence_is_found_for_what_is_compiled_and_accepted(
    name: str, length: int, how: str, options: dict[str, Any]
) -> None:
    data = packed(model(name, length, how, **options))
    facts = recheck(data, said(find(data))).facts()
    assert facts["length"] == length
    assert facts["margin"] > 0


def left(change: Callable[[dict[str, Any]], object]) -> float:
    """What units that erase a channel leave of it, after a change of them."""
    opened = model_of(model("C3", 4, "counter"))
    stream = sublayers.embedding(opened, transformer.read_program(opened, 3))
    name, noise = next((n, x + 2.0**-8) for n, x in stream.noise.items())
    stream, d = replace(stream, noise={**stream.noise, name: noise}), len(stream.owner)
    dim = stream.program.channels[name].span.start
    parts = {"reads": np.zeros((d, 2)), "adds": np.zeros((2, d))}
    parts |= {"inside": np.zeros(2), "after": np.zeros(d), "mask": np.ones(d)}
    parts["reads"][dim], parts["adds"][:, dim] = (1, -1), (-1, 1)
    parts["kinds"] = np.array(["relu", "relu"])
    change(parts | {"dim": dim})
    layers = [(parts["reads"], parts["inside"]), (parts["adds"], parts["after"])]
    free = np.arange(d) == dim
    return float(
        Mlp(layers, [parts["kinds"]], parts["mask"], stream).bound_residue(free).max()
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["reads"].__setitem__((p["dim"], 0), 1.25),
        lambda p: p["reads"].__setitem__((p["dim"], 1), 1.0),
        lambda p: p["adds"].__setitem__((0, p["dim"]), -0.75),
        lambda p: p["inside"].__setitem__(0, 2.0**-10),
        lambda p: p["after"].__setitem__(p["dim"], 2.0**-10),
        lambda p: p["mask"].__setitem__(p["dim"], 0),
        lambda p: p["kinds"].__setitem__(0, "sine"),
    ],
)
def test_only_units_that_erase_leave_nothing(
    change: Callable[[dict[str, Any]], object],
) -> None:
    assert left(lambda parts: None) == UNDERFLOW
    assert left(change) > UNDERFLOW


@pytest.mark.sample(1)
@pytest.mark.parametrize("gain", [2.0**-126, 2.0**-110, 2.0**-1, 1.0, 8.0])
def test_gelus_leave_what_may_be_flushed(gain: float) -> None:
    """A number below 2^-126 may be 0, also one that is then multiplied by 1/K (A12)."""

    def gelus(parts: dict[str, Any]) -> None:
        parts["kinds"][:] = "gelu"
        parts["reads"] *= gain
        parts["adds"] /= gain

    flushed = 2.0**-126 / gain
    assert left(gelus) >= min(1.0, flushed)
    assert left(gelus) <= 2.0**-18 + 8 * flushed


@pytest.mark.slow
def test_a_search_among_huge_numbers_ends_in_a_reason() -> None:
    # Exponentials of the errors of such scores overflow; no warning is given of that.
    file = model("Grid4", 100, "gridworld", strict=True, proof=False)
    with pytest.raises(Refused, match=r"may read wrong positions|half a step"):
        find(packed(file))


Damage = Callable[[dict[str, Any]], object]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda e: e.update(model="0" * 64), "another model file"),
        (lambda e: e.pop("program"), "no 'program'.*make it anew"),
        (lambda e: e.update(margin=99.0), "margin is not shown"),
        (lambda e: e["noise"].update(sum=0.0), "noise of 'sum' is not shown"),
        (lambda e: e["leak"].update(sum=-1.0), "leak of 'sum' is not shown"),
        (lambda e: e["noise"].update(nothing=1.0), "cannot be followed"),
        (lambda e: e.update(program=[]), "cannot be followed"),
    ],
)
def test_claims_beyond_what_is_shown_are_refused(
    counter: tuple[ModelFile, dict[str, Any]], damage: Damage, reason: str
) -> None:
    file, evidence = counter
    changed = json.loads(said(evidence))
    damage(changed)
    with pytest.raises(Refused, match=reason):
        recheck(packed(file), said(changed))


NO_EVIDENCE = [b"", b"{", b"[]", b"null", b"1", b"\xff", b'{"a": NaN}']


@pytest.mark.parametrize(
    "text", [*NO_EVIDENCE, b"[" * 99_999, b"\xf0" * 9_999], ids=len
)
def test_what_is_no_evidence_is_refused(
    counter: tuple[ModelFile, dict[str, Any]], text: bytes
) -> None:
    with pytest.raises(Refused) as refused:
        recheck(packed(counter[0]), text)
    assert len(str(refused.value)) < 400


def test_evidence_is_for_one_machine(
    counter: tuple[ModelFile, dict[str, Any]],
) -> None:
    file, evidence = counter
    right = krohn.zoo("C3")
    swapped = right.transitions[::-1]
    shows = np.arange(len(right.states))
    recheck(packed(file), said(evidence), Machine(0, right.transitions, shows))
    for start, transitions in ((1, right.transitions), (0, swapped)):
        with pytest.raises(Refused):
            recheck(packed(file), said(evidence), Machine(start, transitions, shows))


@pytest.mark.parametrize("cut", [0, 7, 8, 100, -1])
def test_damaged_files_are_refused(
    counter: tuple[ModelFile, dict[str, Any]], cut: int
) -> None:
    file, evidence = counter
    data = packed(file)[:cut]
    same = {**evidence, "model": sha256(data).hexdigest()}
    with pytest.raises(Refused, match="damaged"):
        recheck(data, said(same))


def test_the_trusted_base_imports_nothing_else() -> None:
    code = (
        "import sys, numpy, safetensors; before = set(sys.modules)\n"
        "import pkgutil, importlib\n"
        "for name in ('krohn.verify.checker', 'krohn.program'):\n"
        "    folder = importlib.import_module(name)\n"
        "    for found in pkgutil.walk_packages(folder.__path__, name + '.'):\n"
        "        if not found.name.endswith('__main__'):\n"
        "            importlib.import_module(found.name)\n"
        "new = {m for m in sys.modules if m not in before}\n"
        "own = {m for m in new if m.partition('.')[0] in sys.stdlib_module_names}\n"
        "print(*sorted(new - own))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    names = ran.stdout.split()
    assert "krohn.verify.checker.refinement" in names
    trusted = ("krohn.verify.checker", "krohn.program", "numpy.")
    beside = {n for n in names if not n.startswith(trusted)}
    # Packages that are called as functions are come with Krohn itself, and are empty.
    assert beside == {"krohn", "krohn.verify"}


def test_the_small_checker_runs_alone(
    counter: tuple[ModelFile, dict[str, Any]], tmp_path: Path
) -> None:
    file, evidence = counter
    (tmp_path / "model").write_bytes(packed(file))
    (tmp_path / "evidence").write_bytes(said(evidence))
    (tmp_path / "other").write_bytes(said({**evidence, "margin": 9.0}))
    for name, code in (("evidence", 0), ("other", 1), ("missing", 1)):
        command = [sys.executable, "-m", "krohn.verify.checker", "model", name]
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""},
        )
        assert ran.returncode == code
        assert "Traceback" not in ran.stderr


def test_no_key_of_the_evidence_is_twice(
    counter: tuple[ModelFile, dict[str, Any]],
) -> None:
    file, evidence = counter
    right = said(evidence)
    twice = right.replace(b'"margin":', b'"margin": 0, "margin":', 1)
    assert twice != right
    with pytest.raises(Refused, match="twice"):
        recheck(packed(file), twice)
    recheck(packed(file), right)
