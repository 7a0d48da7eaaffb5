"""Every verdict names what it is about, by one digest that readers make themselves."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_kind import NETWORKS, SOURCES, compiled

import krohn
from krohn.algebra.errors import KrohnError
from krohn.checks import AnotherClaim
from krohn.compiled_model import CompiledModel
from krohn.evidence import Checked, check
from krohn.network import ModelFileError, modelfile
from krohn.network.modelfile import ModelFile, pack
from krohn.network.reading import output_function
from krohn.program.claim import LABELS, Claim, Sense, digest_of
from krohn.program.errors import Refused
from krohn.show import network as show
from krohn.source_kinds import find_source_to_compile, of_file
from krohn.verify.checker.model_file import read
from krohn.verify.proof import prove

Call = Callable[..., tuple[int, Any]]
ROOT = Path(__file__).parents[2]
ALL = [*NETWORKS, "generator"]


def stating(file: ModelFile, key: str, value: Any) -> ModelFile:
    return replace(file, header={**file.header, key: value})


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a JSON value holds texts and numbers."""
    if isinstance(value, dict | list | tuple):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from places(part, (*at, key))
    elif value is not None:
        yield at


def changed(value: Any, at: tuple[Any, ...]) -> Any:
    """A copy with another text or number at a place."""
    if not at:
        if isinstance(value, bool):
            return not value
        return value + "'" if isinstance(value, str) else value + 1
    key, *rest = at
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = changed(copy[key], tuple(rest))
    return copy


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ALL)
def test_every_verdict_names_its_digest_and_the_digest_is_of_the_whole_claim(
    kind: str,
) -> None:
    """Any name, move, number, T or format changes it; tensors do not."""
    model = compiled(kind)
    file = modelfile._parse(pack(model.file.header, model.file.tensors))
    right = model.claim
    assert file.header["digest"] == file.claim.digest == right.digest
    assert model.summary()["digest"] == right.digest
    report = krohn.verify(file, sample=1, digest=right.digest[:32])
    assert (report.digest, report.to_object()["digest"]) == (right.digest,) * 2
    assert read(pack(file.header, file.tensors)).claim.digest == right.digest

    about = "source" if "source" in file.header else "machine"
    for key in (about, "claim"):
        every = list(places(file.header[key]))
        few = every[:: max(1, len(every) // 60)]
        for at in {*few, *(p for p in every if p[0] in ("letters", "states", "name"))}:
            other = changed(file.header[key], at)
            found = digest_of({**file.header, key: other})
            assert (found == right.digest) == (at[0] in LABELS), (key, at)
    shape = {**file.header["architecture"], "dtype": "float16"}
    assert digest_of({**file.header, "architecture": shape}) != right.digest

    tensors = {name: np.zeros_like(t) for name, t in file.tensors.items()}
    header = {**file.header, "evidence": None, "construction": "another"}
    assert modelfile._parse(pack(header, file.tensors)).header["digest"] == right.digest
    assert CompiledModel(replace(file, tensors=tensors), "", None, 0).claim == right


NOTES = ("digest", "search", "evidence", "freedom", "written")
"""Parts of a header that no proof reads: notes of how a network was made, and labels."""


def objects(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a JSON value has objects, the first of each list."""
    if isinstance(value, dict):
        yield at
        for key, part in value.items():
            yield from objects(part, (*at, key)) if key not in NOTES else ()
    elif isinstance(value, list | tuple) and value:
        yield from objects(value[0], (*at, 0))


def with_key(value: Any, at: tuple[Any, ...]) -> Any:
    """A copy that has another key in the object at a place."""
    if not at:
        return {**value, "said": 1}
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = with_key(copy[at[0]], at[1:])
    return copy


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ALL)
def test_no_key_is_left_that_nobody_reads(kind: str) -> None:
    """In any object of a header, at any depth: it would mean something to somebody."""
    file = compiled(kind).file
    machine = compiled(kind).machine if file.claim.of_machine else None
    for at in objects(file.header):
        changed = replace(file, header=with_key(file.header, at))
        assert prove(changed, machine).verdict != "verified", at


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_kind_of_source_has_one_kind_of_claim(kind: str) -> None:
    """A word on file cannot make numbers of classes, nor next tokens of either."""
    header = compiled(kind).file.header
    own, claim = compiled(kind).claim.sense, dict(header["claim"])
    assert own == of_file(compiled(kind).file).claim
    for other in set(Sense) - {own}:
        for said in ({"error": 1.0}, {"error": None}):
            told = {k: x for k, x in {**claim, **said}.items() if x is not None}
            with pytest.raises(Refused):
                Claim.of({**header, "claim": {**told, "kind": str(other)}})


@pytest.mark.parametrize("kind", ALL)
def test_the_lines_about_a_claim_are_no_verdict(kind: str) -> None:
    """How far answers may be off, a proof says: these lines stand beside every verdict."""
    assert "within" not in " ".join(compiled(kind).claim.lines())


def test_bounds_are_printed_rounded_outwards(capsys: Any) -> None:
    """What is printed of evidence is no more than was shown."""
    model = compiled("states")
    assert model.proof is not None
    assert model.proof.bounds is not None
    facts = model.proof.bounds.facts()
    facts |= {"margin": 0.99999, "noise": {"x": 1.0001}, "leak": {"x": 1.0001e-9}}
    checked = Checked(
        model.claim, "verified", "", facts, model.proof.proved, 0, None, 0
    )
    show.evidence(checked)
    told = capsys.readouterr().out
    for bound in ("noise 1.01,", "leak 1.01e-09,", "read-out 0.999\n"):
        assert bound in told


@pytest.mark.parametrize("kind", ["states", "outputs", "rnn", "generator"])
def test_words_of_another_length_are_another_claim(kind: str) -> None:
    """A verdict about fewer words has not the digest of the whole."""
    model = compiled(kind)
    report = krohn.verify(model.file, length=3)
    assert report.about is not None
    assert (report.length, report.about.length) == (3, 3)
    assert report.digest != model.claim.digest
    with pytest.raises(AnotherClaim, match="not the one asked for"):
        krohn.verify(model.file, length=3, digest=model.claim.digest)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["states", "outputs", "rnn", "gru", "ssm"])
def test_another_machine_does_not_prove_the_claim_of_a_file(kind: str) -> None:
    """Who gives the checker a machine gives it the claim about that, too."""
    model = compiled(kind)
    stated = model.file.header["machine"]
    moves = np.roll(stated["transitions"], 1, axis=0).tolist()
    wrong = stating(model.file, "machine", {**stated, "transitions": moves})
    right = model.claim
    assert prove(wrong, model.machine).proved is None
    found = prove(wrong, model.machine, claim=right).proved
    assert found is not None
    assert found.claim == right


def _turned(names: Any) -> Any:
    return names[::-1] if isinstance(names, list) else names


@pytest.mark.parametrize("kind", [*SOURCES, "letters of a model"])
def test_a_file_with_other_names_is_about_another_source(kind: str) -> None:
    """Letters are read by name: in another order, they are others to a network."""
    name, how, _ = SOURCES.get(kind, ("RanHMM3,4@7:2given1", {}, ""))
    file = compiled(kind).file if kind in SOURCES else krohn.compile(name, **how).file
    source = file.header["source"]
    names = {k: _turned(source.get(k)) for k in ("letters", "classes", "states")}
    names = {k: v for k, v in names.items() if v is not None}
    if not names:
        return  # numbers have no names
    try:
        report = krohn.verify(stating(file, "source", {**source, **names}), name)
    except KrohnError:
        return
    assert report.verdict != "verified"


@pytest.mark.parametrize("kind", ["states", "rnn", "kernel", "chain-of-thought"])
def test_a_stated_digest_is_never_believed(kind: str, tmp_path: Path) -> None:
    """No reader takes a file whose claim was changed beside its digest."""
    model = compiled(kind)
    data = pack(model.file.header, model.file.tensors)
    wrong = data.replace(model.claim.digest.encode(), b"0" * 64)
    assert wrong != data
    path = tmp_path / "f.safetensors"
    path.write_bytes(wrong)
    with pytest.raises(ModelFileError, match="digest"):
        modelfile.read(path)
    with pytest.raises(Refused, match="digest"):
        read(wrong)


@pytest.mark.parametrize("kind", NETWORKS)
def test_another_format_of_machines_or_a_source_without_a_name_is_none(
    kind: str,
) -> None:
    """Such files are none to the small checker either, which reads a header itself."""
    header = compiled(kind).file.header
    said = header.get("machine") or header["source"]
    unnamed = {key: value for key, value in said.items() if key != "name"}
    others = [unnamed] if "source" in header else [{**said, "format": "krohn-model"}]
    others += [{**said, "version": n} for n in (0, 3, 1.0, True) if "machine" in header]
    for other in others:
        key = "machine" if "machine" in header else "source"
        with pytest.raises(Refused):
            Claim.of({**header, key: other})


def test_files_without_a_digest_are_read(tmp_path: Path) -> None:
    """Files that were written before there was a digest."""
    model = compiled("states")
    data = pack(model.file.header, model.file.tensors)
    stated = f'\\"digest\\":\\"{model.claim.digest}\\",'.encode()
    assert stated in data
    size = int.from_bytes(data[:8], "little")
    old = data[8 : 8 + size].replace(stated, b"") + b" " * len(stated)
    path = tmp_path / "f.safetensors"
    path.write_bytes(data[:8] + old + data[8 + size :])
    assert "digest" not in modelfile.read(path).header
    assert krohn.verify(path).digest == read(path.read_bytes()).claim.digest


def test_a_renamed_machine_has_its_new_name_and_its_digest() -> None:
    file = krohn.compile("C3", 8).file
    other = stating(file, "machine", {**file.header["machine"], "name": "S5"})
    report = krohn.verify(other)
    assert report.verdict == "verified"
    assert report.about is not None
    line = "about S5: 3 letters (0, 1, 2), 3 states (0, 1, 2)"
    assert report.about.lines()[0] == line
    assert report.digest == file.claim.digest  # a name is a label


def test_a_proof_against_another_machine_is_about_that_one() -> None:
    """One that moves alike in the same states leaves the claim of the file as it is."""
    file = krohn.compile("C3", 8).file
    assert krohn.verify(file, "C3").digest == file.claim.digest
    counter = krohn.read("C3")
    larger = krohn.automaton(
        {
            **{q: {a: str((int(q) + int(a)) % 3) for a in "012"} for q in "012"},
            "never": dict.fromkeys("012", "never"),
        },
        start="0",
        name="C3 and a state that is never reached",
    )
    assert counter.letters == larger.letters
    report = krohn.verify(file, larger)
    assert report.verdict == "verified"
    assert report.about is not None
    assert (report.about.name, len(report.about.states)) == (larger.name, 4)
    assert report.digest != file.claim.digest


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["states", "linear-system", "ssm"])
def test_another_digest_is_refused_by_every_reader(
    kind: str, tmp_path: Path, call: Call
) -> None:
    path, evidence = str(tmp_path / "f.safetensors"), str(tmp_path / "e.json")
    model = compiled(kind)
    model.save(path)
    right = model.claim.digest
    code, told = call("verify", path, "--evidence", evidence, "--digest", right)
    assert (code, told["digest"], told["written"]["digest"]) == (0, right, right)
    code, told = call("recheck", path, evidence, "--digest", right[:32].upper())
    assert (code, told["digest"]) == (0, right)
    alone = [sys.executable, "-m", "krohn.verify.checker", path, evidence]
    found = subprocess.run([*alone, right[:32]], capture_output=True, text=True)
    assert right[:12] in found.stdout
    wrong = ("0" if right[0] != "0" else "1") + right[1:]
    for command in (("verify", path), ("recheck", path, evidence)):
        for digest, why in ((wrong, right), (right[:31], "too few"), ("x", "32 to")):
            code, told = call(*command, "--digest", digest)
            assert code == (1 if digest == wrong else 2)
            assert why in told["error"]
    found = subprocess.run([*alone, wrong], capture_output=True, text=True)
    assert found.returncode == 1
    assert "not shown: the claim is not the one asked for" in found.stderr
    with pytest.raises(KrohnError, match="not the one asked for"):
        krohn.verify(path, digest=wrong)
    with pytest.raises(AnotherClaim, match="not the one asked for"):
        check(path, evidence, digest=wrong)


@pytest.mark.slow
def test_a_flipped_bit_is_found_by_the_proof_and_not_by_the_digest(
    tmp_path: Path,
) -> None:
    """What is verified is right on all words, and what is wrong on one is refuted."""
    path = tmp_path / "f.safetensors"
    model = krohn.compile("C2", 5)
    model.save(path)
    words = np.indices((2,) * 5).reshape(5, -1).T
    states = krohn.zoo("C2").semiautomaton.trace(words, 0)
    data, wrong = path.read_bytes(), 0
    begin = 8 + int.from_bytes(data[:8], "little")
    for sign in range(begin + 3, len(data), 4):  # of a float32
        if data[sign - 3 : sign + 1].strip(b"\0"):
            flipped = bytes([data[sign] ^ 128])
            path.write_bytes(data[:sign] + flipped + data[sign + 1 :])
            asked = {"digest": model.claim.digest, "proof": True, "exhaustive": 5}
            report = krohn.verify(path, **asked)
            assert report.digest == model.claim.digest
            logits = output_function(modelfile.read(path))(words)
            right = logits.argmax(axis=2) == states
            assert report.verdict != "verified" or right.all()
            assert report.verdict == "refuted" or right.all()
            wrong += not right.all()
    assert wrong


def test_names_that_rule_a_terminal_are_quoted_and_long_lists_are_cut() -> None:
    machine = {"name": "\x1b[2J", "letters": ["a,b", "\x1b"], "states": ["q" * 50] * 9}
    header = {"machine": machine, "claim": {}, "architecture": {"dtype": "float32"}}
    lines = Claim.of(header).lines()
    assert all(line.isprintable() and len(line) < 140 for line in lines)
    assert '2 letters ("a,b", "\\u001b")' in lines[0]
    assert lines[0].endswith(f"9 states ({'q' * 23}…, …)")
    machine["name"] = "m" * 80 + " without probabilities below 1e-124"
    assert "…lities below 1e-124: " in Claim.of(header).lines()[0]


def test_networks_without_a_file_are_about_the_machine_that_is_asked_for() -> None:
    def network(words: Any) -> Any:
        return np.cumsum(words, axis=1) % 2

    report = krohn.examine(network, "C2", 5)
    assert report.about is not None
    assert (report.about.name, report.about.length) == ("C2", 5)
    assert krohn.examine(network, "C2", 5, digest=report.digest) == report
    with pytest.raises(KrohnError, match="not the one asked for"):
        krohn.examine(network, "C3", 5, digest=report.digest)


@pytest.mark.slow
def test_a_page_says_the_digest(tmp_path: Path, call: Call) -> None:
    path, page = tmp_path / "f.safetensors", tmp_path / "f.html"
    model = compiled("states")
    model.save(path)
    assert call("verify", path, "--html", page, "--html-effort", "low")[0] == 0
    assert model.claim.digest in page.read_text()
    assert "C3: 3 letters" in page.read_text()


def test_json_has_the_names(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "f.safetensors"
    code, told = call("compile", "S5", "--arch", "rnn", "-o", path)
    assert code == 0
    about = told["about"]
    assert (about["name"], about["states"]["count"]) == ("S5", 120)
    assert about["letters"] == {"count": 8, "names": list(krohn.read("S5").letters)}
    assert told["digest"] == json.loads(
        json.dumps(modelfile.read(path).header["digest"])
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_that_is_given_is_all_that_a_file_states(kind: str) -> None:
    """An order of outputs, say, is more than a source that is given without one."""
    file = compiled(kind).file
    own, told = of_file(file), file.header["source"]
    other = find_source_to_compile(SOURCES[kind][0])
    same = other is not None and other[0] is own
    source = other[1] if other and same else own.of_file(file)
    more = stating(file, "source", {**told, "more": 1})
    assert krohn.verify(more, proof=True).verdict != "verified"
    for stated in (file, more):
        report = krohn.verify(stated, source, proof=True)
        assert (report.verdict, report.digest) == ("verified", digest_of(file.header))


def test_a_kernel_of_permuted_inputs_is_another_one() -> None:
    file = krohn.compile("Exp4:swap=1").file
    assert krohn.verify(file, "Exp4:swap=1", proof=True).verdict == "verified"
    assert krohn.verify(file, "Exp4", proof=True).verdict == "undecided"
