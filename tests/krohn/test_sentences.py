"""Every sentence about truth is that of the checker, on one file of each kind.

Whatever a command prints about a file, as text, JSON, a card or a page, and whatever
Python shows of it, is searched for words about truth. What speaks is the text of the
checker's `Proved` for this file, word by word, or one of few forms that say which claim
they repeat, whose numbers are held against it.
"""

import html
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from every_kind import MACHINES, NETWORKS, compiled

import krohn
from krohn import cli
from krohn.program.claim import Sense
from krohn.program.inputs import Words
from krohn.program.wording import at_most
from krohn.verify.checker.verdict import Proved

KINDS = (*NETWORKS, "generator")
OPTIONS = {"length": "-T", "observe": "--observe"}
SPEAKS = re.compile(
    r"\b(verified|proved|proves|right (?:on|at|after|for)|covers|holds|within|apart)\b"
)
NUMBER = r"(\d[\d.]*(?:e[-+]\d+)?)"


def of_kind(kind: str) -> Proved:
    """What the checker has proved of the file of a kind."""
    proof = compiled(kind).proof
    assert proof is not None
    assert proof.proved is not None
    return proof.proved


def command(kind: str) -> list[str]:
    """How `krohn compile` is asked for the network of a kind."""
    if kind == "generator":
        return ["Dyck2,2", "-T", "8", "--construction", "balanced"]
    name, how, _ = NETWORKS[kind]
    parts = [name]
    for key, value in how.items():
        parts.append(OPTIONS.get(key, f"--{key}"))
        parts += [] if value is True else [str(value)]
    return parts


def strings(told: Any) -> Iterator[str]:
    """All text in an object of JSON, but for names of senses and verdicts."""
    if isinstance(told, str):
        yield "" if told in (*Sense, "verified") else told
    elif isinstance(told, dict | list):
        for part in told.values() if isinstance(told, dict) else told:
            yield from strings(part)


def plain(text: str) -> str:
    """Text without marks of HTML or Markdown, on one line."""
    text = re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(re.sub(r"[`\\]", "", html.unescape(text)).split())


def others(text: str, proved: Proved) -> list[str]:
    """What speaks of truth in a text, and is neither the sentence nor about its claim."""
    claim, text = proved.claim, plain(text)
    told = str(proved)
    for sentence in (told, told[0].upper() + told[1:]):
        text = text.replace(sentence, "∎")
    error = re.escape(at_most(claim.error))
    for form in (
        r"verified \(proof(, [\d.]+ m?s)?\)|verified: \w+",
        rf"(numbers|laws of the next letter), within {error}",
        rf"(proved in {NUMBER} s|proved): ∎",
        *FORMS,
    ):
        text = re.sub(form, "", text)
    return [text[max(0, m.start() - 60) : m.end() + 60] for m in SPEAKS.finditer(text)]


FORMS = (
    "each network was proved to compute its machine, and the machines give the same",
    rf"are at most {NUMBER} apart",
    "the Coq kernel, which proves the same claims, ",
)
"""What `krohn equivalent` says, which has asked the checker about both files; and what
precedes the reason why the kernel was not used."""


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """All that a command prints, which is done."""
    code = cli.run([*map(str, words)])
    said = capsys.readouterr()
    assert not code, said.err
    return said.out


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of file."""
    return str(request.param)


@pytest.mark.sample(1)
def test_commands_print_the_sentence_of_the_checker(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved, path, evidence = of_kind(kind), tmp_path / "F.safetensors", tmp_path / "E"
    compiling = ("compile", *command(kind), "-o", path)
    texts = [printed(capsys, *compiling)]
    texts += [printed(capsys, "verify", path, "--evidence", evidence)]
    texts += [printed(capsys, "recheck", path, evidence)]
    for asked in (("verify", path), ("recheck", path, evidence)):
        told = json.loads(printed(capsys, *asked, "--json"))
        about, claim = told["about"], proved.claim
        assert (about["length"], about["dtype"]) == (claim.length, claim.dtype)
        assert told["digest"] == proved.digest
        texts.append("\n".join(strings(told)))
    for text in texts:
        assert str(proved) in plain(text)
        assert others(text, proved) == []


def where(proved: Proved) -> str:
    """The inputs on which two files are compared; two machines, by a length of words."""
    claim = proved.claim
    if not isinstance(claim.inputs, Words) or not claim.of_machine:
        return str(claim.inputs)
    many = "every length" if claim.length is None else f"up to {claim.length} letters"
    return f"for words of {many}"


@pytest.mark.sample(1)
def test_files_that_are_compared_are_at_most_two_errors_apart(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved, path = of_kind(kind), tmp_path / "F.safetensors"
    compiled(kind).save(path)
    text = plain(printed(capsys, "equivalent", path, path))
    assert where(proved) in text
    assert others(text.replace("verified for ", ""), proved) == []
    apart = re.search(rf"at most {NUMBER} apart", text)
    assert (apart is None) == (proved.claim.error == 0)
    if apart:
        two = 2 * Fraction(proved.claim.error)
        assert two <= Fraction(apart[1]) <= two * Fraction(102, 100)


@pytest.mark.sample(4)
def test_runs_say_errors_that_are_claimed_and_nothing_more(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved, path = of_kind(kind), tmp_path / "F.safetensors"
    compiled(kind).save(path)
    word = NETWORKS[kind][2].split() if kind in NETWORKS else ["("]
    told = json.loads(printed(capsys, "run", path, *word, "--json"))
    assert told.get("error") in (None, proved.claim.error)
    assert others(printed(capsys, "run", path, *word), proved) == []


@pytest.mark.sample(1)
def test_python_shows_the_sentence_of_the_checker(kind: str) -> None:
    proved, model = of_kind(kind), compiled(kind)
    report = krohn.verify(model.file)
    assert report.covers == str(proved)
    told = repr(report).rpartition(": ")[2].rstrip(">…")
    assert told
    assert str(proved).startswith(told)
    assert others(repr(model).replace("verified>", ""), proved) == []
    summary = model.summary()
    assert summary["length"] == proved.claim.length
    assert summary["error"] == (proved.claim.error or None)
    assert summary["digest"] == proved.digest


DOMAIN = re.compile(
    r"right on|within \d|verified for|(every|all) \S* ?(words?|inputs?)\b"
)


def domains(text: str, proved: Proved) -> list[str]:
    """Where an explanation of proofs says on which inputs, or how exactly, by itself."""
    rest = plain(text).replace(str(proved), "").replace(str(proved)[1:], "")
    return [rest[max(0, m.start() - 60) : m.end() + 60] for m in DOMAIN.finditer(rest)]


CARDS = [
    (kind, form)
    for kind in ("states", "outputs", "strict", "rnn", "program")
    for form in ("huggingface", "onnx")
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), CARDS)
def test_cards_print_the_sentence_of_the_checker(
    name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved, path = of_kind(name), tmp_path / "F.safetensors"
    compiled(name).save(path)
    how = ("--to", form, "-o", tmp_path / "out", "--sample", 2)
    text = printed(capsys, "export", path, *how)
    card = (tmp_path / "out" / "README.md").read_text()
    for said in (text, card):
        assert str(proved) in plain(said)
        assert domains(said, proved) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MACHINES, "generator"])
def test_pages_print_the_sentence_of_the_checker(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved, path, page = of_kind(name), tmp_path / "F.safetensors", tmp_path / "p.html"
    compiled(name).save(path)
    printed(capsys, "verify", path, "--html", page, "--html-effort", "1")
    text = plain(page.read_text())
    assert str(proved)[1:] in text
    assert domains(text, proved) == []
