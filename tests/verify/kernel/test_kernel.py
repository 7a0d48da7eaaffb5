"""The kernel proves what is right, reads what is there, and never says more."""

import json
import shutil
import subprocess
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import refused, said
from kernel_files import data_of, evidence_of, kernel, status, with_kernel

import krohn
from krohn import kernel_verdict
from krohn.network.modelfile import pack, read
from krohn.program.errors import Refused
from krohn.verify.checker.network import open_model
from krohn.verify.kernel import asking
from krohn.verify.kernel.asking import run
from krohn.verify.kernel.evidence import find_kernel_evidence

PATTERN = "regex:(a|b)*abb"
TRANSFORMERS = (
    *("FlipFlop", "Memory3", "FFL2", "Adder", "Grid3", "abab", "Dyck1,2", PATTERN),
    *("Grid4", "regex:(ab|ba)*", "Parity8@2,3,7", "ParityTree2,2"),
    *("C2", "C3", "C2xC3", "S3", "A4", "D4", "Q8", "S4", "A5", "PermReset3"),
)
RNNS = ("C2", "S3", "FlipFlop", "Grid4", "Dyck2,3")
FORMATS = ("float64", "float32", "bfloat16", "float16")


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_it_proves_transformers(name: str) -> None:
    data = data_of(name, 24)
    assert status(data, evidence_of(data)) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    ("name", "length"), [("C2", 256), ("C3", 200), ("regex:(ab|ba)*", 64)]
)
def test_it_proves_long_sums_and_close_scores(name: str, length: int) -> None:
    data = data_of(name, length)
    assert status(data, evidence_of(data)) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("regex:(ab|ba)*", 6),
        ("regex:(ab|ba)*", 8),
        pytest.param("PermReset4", 16, marks=pytest.mark.slow),
    ],
)
def test_values_that_no_letter_has_together_do_not_count(
    name: str, length: int
) -> None:
    """What an MLP makes of them is far off."""
    data = data_of(name, length)
    assert status(data, evidence_of(data)) == 0


@pytest.mark.slow
@with_kernel
@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("S5", 512),
        ("FlipFlop", 4096),
        (PATTERN, 2048),
        pytest.param("S5", 4096, marks=pytest.mark.slow),
    ],
)
def test_it_proves_long_words(name: str, length: int) -> None:
    data = data_of(name, length)
    assert status(data, evidence_of(data)) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    "name", ["FlipFlop", "Memory3", "Dyck1,2", PATTERN, "C2", "S3", "Parity8@2,3,7"]
)
def test_it_proves_transformers_in_float64(name: str) -> None:
    data = data_of(name, 8, dtype="float64")
    assert status(data, evidence_of(data)) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["FlipFlop", "Memory5", "abab", "S3", "A4", "FFL2"])
def test_it_proves_transformers_in_16_bits(name: str, dtype: str) -> None:
    data = data_of(name, 24, dtype=dtype)
    assert status(data, evidence_of(data)) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    ("name", "length", "dtype"),
    [
        ("C2", 8, "float16"),
        ("Parity8@2,3,7", 16, "float16"),
        ("ParityTree2,2", 16, "bfloat16"),
    ],
)
def test_it_proves_sums_of_heads_in_16_bits(name: str, length: int, dtype: str) -> None:
    data = data_of(name, length, dtype=dtype)
    evidence = evidence_of(data)
    plans = [x for step in evidence["layout"]["steps"] for x in step["plans"]]
    assert any(x["shares"] for x in plans)
    assert status(data, evidence) == 0


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", RNNS)
def test_it_proves_recurrent_networks(name: str, dtype: str) -> None:
    data = data_of(name, arch="rnn", dtype=dtype)
    assert status(data, evidence_of(data)) == 0


@with_kernel
def test_another_machine_or_a_longer_claim_is_not_shown() -> None:
    file = krohn.compile("FlipFlop", 8).file
    evidence = evidence_of(pack(file.header, file.tensors))
    longer, other = deepcopy(file.header), deepcopy(file.header)
    longer["claim"]["length"] = 9
    row = other["machine"]["transitions"][0]
    row[0] = (row[0] + 1) % len(row)
    for header in (longer, other):
        assert status(pack(header, file.tensors), evidence) in (1, 2)


def numbers(tensor: Any) -> list[Fraction]:
    """The entries of a tensor that is shown as a unit and rows."""
    unit, rows = tensor
    return [Fraction(entry) * Fraction(2) ** unit for row in rows for entry in row]


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(
            (name, {"arch": "rnn", "dtype": dtype})
            for name in RNNS
            for dtype in FORMATS
        ),
        *((name, {"length": 9, "dtype": "float64"}) for name in TRANSFORMERS[:8]),
        *((name, {"length": 9}) for name in TRANSFORMERS),
        ("C3", {"length": 9, "strict": True}),
    ],
)
def test_it_reads_what_another_reader_reads(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """The machine, the sizes, and every number of every tensor."""
    path = tmp_path / "m.safetensors"
    krohn.compile(name, **options).save(path)
    ran = subprocess.run([kernel(), "--show", path], capture_output=True, check=True)
    shown, file = json.loads(ran.stdout), read(path)
    machine = open_model(path.read_bytes()).machine
    assert shown["start"] == machine.start
    assert shown["moves"] == machine.transitions.tolist()
    assert shown["shows"] == machine.shows.tolist()
    assert shown["format"] == file.header["architecture"]["dtype"]
    seen = {name: numbers(shown[name]) for name in file.tensors if name in shown}
    for b, block in enumerate(shown.get("blocks", ())):
        stated, at = file.header["architecture"]["blocks"][b], f"blocks.{b}."
        sizes = [len(block["heads"]), block["d_qk"], block["d_v"]]
        assert sizes == [stated["heads"], stated["d_qk"], stated["d_v"]]
        for i, part in enumerate(("query", "key", "value", "out")):
            if block["heads"]:
                entries = [x for head in block["heads"] for x in numbers(head[i])]
                seen[f"{at}attention.{part}"] = entries
        for j, (_, weight, bias) in enumerate(block["layers"]):
            seen[f"{at}mlp.{j}.weight"] = numbers(weight)
            seen[f"{at}mlp.{j}.bias"] = numbers(bias)
        if f"{at}mlp.residual" in file.tensors:
            seen[f"{at}mlp.residual"] = [Fraction(x) for x in block["keeps"]]
    assert seen.keys() == file.tensors.keys()
    for name, tensor in file.tensors.items():
        assert seen[name] == [Fraction(float(x)) for x in np.ravel(tensor)], name


def follow_no_more(evidence: dict[str, Any], channels: list[Any]) -> None:
    """Add channels to a Program, which its invariant does not follow."""
    evidence["program"] += channels
    invariant = evidence["invariant"]
    invariant["anns"] += [[["Hidden"], False]] * len(channels)
    invariant["sets"].append([])
    for row in invariant["cells"]:
        row += [[]] * len(channels)


@pytest.mark.slow
@with_kernel
def test_naturals_that_would_overflow_are_noticed() -> None:
    """Sums that double wrap to 0 where naturals are OCaml's integers without a check.

    A domain is empty then, nothing is looked at, and a network with the opposite read-out
    is proved.
    """
    file = krohn.compile("C2", 7).file
    evidence = evidence_of(pack(file.header, file.tensors))
    opposite = {
        name: -tensor if name.startswith("unembed") else tensor
        for name, tensor in file.tensors.items()
    }
    wrong = pack(file.header, opposite)
    assert status(wrong, evidence) == 1
    before, target = len(evidence["program"]), (2**63 - 1) // 7
    assert (1 + 7 * target) % 2**63 == 0
    added: list[Any] = [["Table", [0], [[[0], 1], [[1], 1], [[2], 0]]]]
    while 2 ** len(added) <= target:
        added.append(["Sum", [before + len(added) - 1] * 2])
    bits = range(len(added))
    added.append(["Sum", [before + i for i in bits if target >> i & 1]])
    added.append(["PrefixSum", before + len(added) - 1])
    follow_no_more(evidence, added)
    evidence["layout"]["read_out"] = [before + len(added) - 1]
    assert status(wrong, evidence) == 2


EARLIER = r"heads that bring the value at the latest .* positions before this one \(sib"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("Mess3", {"length": 4}, "other sources"),
        ("C2", {"length": 4, "disguise": "rotate"}, "disguises"),
        ("regex:bccb(aa)*", {"length": 8, "construction": "cascade"}, EARLIER),
    ],
)
def test_what_it_has_no_theorem_about(
    name: str, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        find_kernel_evidence(open_model(data_of(name, **options)))


def test_numbers_that_grow_without_end_are_refused() -> None:
    file = krohn.compile("C2", arch="rnn").file
    grown = file.tensors | {"hidden.weight": 2.0**60 * file.tensors["hidden.weight"]}
    with pytest.raises(Refused, match="without a bound"):
        find_kernel_evidence(open_model(pack(file.header, grown)))


# What `krohn verify` says.


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    krohn.compile("FlipFlop", 8).save(path)
    return path


@with_kernel
def test_a_verdict_says_who_spoke(saved: Path) -> None:
    assert "kernel (Coq)" in said("verify", saved)["checked_by"]
    assert "rules (Python)" in said("verify", saved, "--kernel", "none")["checked_by"]
    own = said("verify", saved, "--kernel", kernel())["checked_by"]
    assert "kernel (Coq)" in own
    assert "kernel (Coq)" in str(krohn.verify(krohn.compile("S3", 6)).checked_by)


@pytest.mark.slow
@with_kernel
def test_of_what_it_does_not_cover_the_rules_speak(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile("C2", 4, disguise="rotate").save(path)
    checked_by = said("verify", path)["checked_by"]
    assert "rules (Python)" in checked_by
    assert checked_by.endswith(
        "; the Coq kernel, which proves the same claims, was not used: it has no theorem "
        "about disguises"
    )
    required = krohn.verify(path, kernel="require")
    assert required.verdict == "undecided"
    assert "no theorem about disguises" in required.reason


@with_kernel
def test_where_it_is_required_no_other_word_counts(saved: Path) -> None:
    """Of other sources, and of runs, it says nothing."""
    source = krohn.compile("Mess3", 4)
    assert krohn.verify(source).verdict == "verified"
    assert krohn.verify(source, kernel="require").verdict == "undecided"
    runs = krohn.verify(saved, exhaustive=3, length=3)
    assert runs.verdict == "verified"
    runs = krohn.verify(saved, exhaustive=3, length=3, kernel="require")
    assert runs.verdict == "undecided"
    assert "the kernel does not say it" in runs.reason


def test_a_kernel_that_is_required_must_be_there(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "BUILT", saved / "none")
    monkeypatch.setattr(asking.shutil, "which", lambda name: None)
    monkeypatch.setattr(asking.sys, "executable", "/none/python")
    refused("is not installed", "verify", saved, "--kernel", "require")
    assert "rules (Python)" in said("verify", saved)["checked_by"]
    refused("there is no such program", "verify", saved, "--kernel", saved)


def test_a_program_that_only_ends_well_is_no_kernel(saved: Path) -> None:
    refused("is no kernel", "verify", saved, "--kernel", shutil.which("true"))


@with_kernel
def test_it_judges_the_bytes_that_were_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is replaced meanwhile changes nothing."""
    whole = saved.read_bytes()
    other = krohn.compile("Memory3", 8).file
    found = kernel_verdict._answer

    def replacing(*given: Any) -> Any:
        saved.write_bytes(pack(other.header, other.tensors))
        return found(*given)

    monkeypatch.setattr(kernel_verdict, "_answer", replacing)
    report = krohn.verify(saved, kernel="require")
    assert report.verdict == "verified"
    assert report.digest == krohn.compile("FlipFlop", 8).claim.digest
    assert saved.read_bytes() != whole


@with_kernel
def test_evidence_that_would_run_long_ends_by_the_count_of_its_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A channel reads the one before it twice: the last is computed in 2^60 steps."""
    data = data_of("C2", 7)
    evidence = evidence_of(data)
    token, last = evidence["layout"]["token_channel"], len(evidence["program"]) - 1
    both = [[[a, b], a * b] for a in (0, 1) for b in (0, 1)]
    flag = ["Table", [token], [[[0], 0], [[1], 1], [[2], 0]]]
    doubled = [["Table", [last + i, last + i], both] for i in range(1, 61)]
    follow_no_more(evidence, [flag, *doubled])
    evidence["layout"]["at_first"][0] = [last + 61, [token]]
    monkeypatch.setenv("KROHN_KERNEL_STEPS", "1000000")
    code, text = run(kernel(), data, evidence)
    assert code == 2
    assert text == "cannot decide: the evidence takes more than 1000000 steps"


@pytest.mark.slow
def test_a_kernel_that_does_not_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "kernel"
    endless.write_text("#!/bin/sh\nwhile :; do :; done\n")
    endless.chmod(0o755)
    monkeypatch.setattr(asking, "MOST_SECONDS", 1)
    code, text = run(endless, b"", {})
    assert (code, len(text.splitlines())) == (2, 1)
    assert "was stopped" in text
