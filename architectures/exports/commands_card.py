"""The README.md of an export: its verdict, and a program that uses it, which is run."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count
from krohn.architectures.exports.circuit import Labels, is_written
from krohn.architectures.exports.destinations import Destination
from krohn.foreign import source_name
from krohn.network.export_card import CARD
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.extras import import_folder
from krohn.program.quoting import (
    cut,
    in_markdown,
    in_python,
    markdown_program,
    markdown_text,
    on_a_line,
)
from krohn.source_kinds import of_file
from krohn.verify.proof import Proof

NAME = CARD
NOT_PROVED = "not proved: "
"""How the sentence about a network begins of which nothing is proved."""
WEIGHTS = (".onnx", ".safetensors")
"""Suffixes of the files of an export that hold weights."""
MOST_NAMES = 200
"""In characters, of a list of names."""
SECONDS = 900
"""For a program on a card: libraries take seconds to import, minutes on a busy machine."""
HIDDEN = ("Deprecation", "PendingDeprecation", "Import", "Resource")
"""What Python warns of in the program itself alone, or not at all."""
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": ",".join(
        [
            "error",
            *(f"ignore::{name}Warning" for name in HIDDEN),
            "error::DeprecationWarning:__main__",
        ]
    ),
}
"""What Python and libraries are told: to fetch nothing, to leave nothing behind, and to
end with an error where they would warn."""
LICENCE = "apache-2.0"
"""Of Krohn, and of its code in an export, as the Hub of Hugging Face calls it."""
PADDED = "Logits at padding mean nothing: read those where `attention_mask` is 1.\n\n"
USE = """
This program was run in this directory. The comment shows the output:

{}
"""
CIRCUIT = """
Where each variable lies: `circuit.csv` (hook, dimensions, meaning of each value).
`circuit.json` has the edges between components, too.
"""


@dataclass(frozen=True)
class Shown:
    """A program for a card, and what it must print.

    Attributes:
        text: The program.
        answers: The names of answers; or numbers, which nothing is chosen by.
        off: By how much a number may be another one.
    """

    text: str
    answers: list[Any]
    off: float

    def __str__(self) -> str:
        """The program, with what it prints behind its last line."""
        output = in_python(self.answers)
        if self.off:
            some = ", ".join(f"{x:.4g}" for x in self.answers)
            output = f"[{some}], rounded"
        return f"{self.text}  # {output}"

    def check(self, place: Path) -> None:
        """Run it in a directory.

        Raises:
            KrohnError: If it prints something else.
        """
        output = run_program(self.text, place)
        try:
            answers = ast.literal_eval(output)
            right = self._near(answers) if self.off else answers == self.answers
        except (SyntaxError, ValueError, TypeError):
            right = False
        if not right:
            raise KrohnError(
                f"the program of {NAME} prints {cut(on_a_line(output.strip()), 200)}, not "
                f"{cut(in_python(self.answers), 200)}, so nothing was written"
            )

    def _near(self, said: list[float]) -> bool:
        pairs = zip(said, self.answers, strict=True)
        return all(abs(x - y) <= self.off for x, y in pairs)


def run_program(program: str, place: Path) -> str:
    """The output of a program that is run in a directory, by this Python.

    Raises:
        KrohnError: If it ends in an error, or Python would warn.
    """
    known = str(import_folder()), os.environ.get("PYTHONPATH")
    paths = os.pathsep.join(filter(None, known))
    with TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            **QUIET,
            "PYTHONPATH": paths,
            "HF_MODULES_CACHE": cache,
        }
        try:
            done = subprocess.run(
                [sys.executable, "-c", program],
                cwd=place,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise KrohnError(f"the program of {NAME} runs for too long") from None
    if done.returncode:
        last = on_a_line(done.stderr.strip().rpartition("\n")[2])
        raise KrohnError(
            f"the program of {NAME} ends in an error, so nothing was written: {last}"
        )
    return done.stdout


def program(file: ModelFile, home: Destination, names: Labels) -> Shown | None:
    """A program that runs a short input of the claim there; None if there is none."""
    if not home.program:
        return None
    given = of_file(file).example(file)
    with torch.inference_mode():
        logits = Model(file)(torch.tensor([given.tokens]))[0, given.first - 1 :]
    text = ""
    if "{text}" in home.program:
        word = [names.letters[a] for a in given.tokens]
        text = home.spell(word, names.letters)
    lines = home.program.format(text=in_python(text), letters=given.tokens)
    if of_file(file).claim == "within":
        lines += "\nprint(logits[-1].tolist())"
        # Both are within the error of what is right.
        off = 2 * float(file.claim.error)
        return Shown(lines, logits[-1].tolist(), off)
    classes = home.classes(file, names)
    part = f"[{given.first - 1}:]" if given.first > 1 else ""
    lines += f"\nprint([classes[i] for i in logits{part}.argmax(-1).tolist()])"
    return Shown(lines, [classes[i] for i in logits.argmax(dim=-1).tolist()], 0.0)


def verdict(proof: Proof) -> str:
    """The proof of a network in a sentence: the one place that says it."""
    if proof.proved is None:
        return f"{NOT_PROVED}{proof.reason}"
    if proof.verdict != "verified":  # by what no proof speaks about there
        return f"the network is proved: {proof.proved}; {proof.reason}"
    return f"proved: {proof.proved}"


def card(
    file: ModelFile,
    home: Destination,
    names: Labels,
    proof: Proof,
    shown: Shown | None,
    place: Path,
) -> str:
    """The text of README.md.

    Args:
        file: The network.
        home: Where it went.
        names: Of its letters and classes there.
        proof: The verdict of the checker on what is there.
        shown: A program that was run there, if there is one.
        place: The directory, with all else that is written.
    """
    digest = home.digest(file, place)
    sentence = markdown_text(verdict(proof))
    letters, logits = len(names.letters), len(names.classes)
    use = "" if shown is None else USE.format(markdown_program(str(shown)))
    use += f"\n{home.note}\n" * bool(home.note)
    if is_written(file):
        use += CIRCUIT + f"\n{home.streams}\n" * bool(home.streams)
    length = file.claim.length
    about = ""
    if proof.proved is not None and proof.verdict != "verified":
        about = f" The verdict `{proof.verdict}` above is about {home.unproved}."
    longest = "" if length is None else f"Words have up to {count(length, 'letter')}. "
    return f"""\
{_front_matter(file, home, names, proof, digest)}
# {in_markdown(source_name(file.header))}, for {home.title}

**{sentence[0].upper()}{sentence[1:]}.**

Krohn derived these weights; no network was trained. Arithmetic: {home.arithmetic}.{about}

Its {count(letters, "letter")}: {_list_names(names.letters)}. {longest}Its
{count(logits, "logit")} stand for {names.means}: {_list_names(names.classes)}.
{use}
{_again(home, digest, place)}
"""


def _front_matter(
    file: ModelFile, home: Destination, names: Labels, proof: Proof, digest: str
) -> str:
    """What the Hub of Hugging Face reads of a card: YAML, of values that JSON has, too."""
    kind = "finite-automaton" if file.claim.of_machine else file.claim.kind
    facts = {
        "digest": digest,
        "length": file.claim.length,
        "dtype": file.claim.dtype,
        "letters": len(names.letters),
        "classes": len(names.classes),
        "verdict": proof.verdict,
    }
    entries = {
        "license": LICENCE,
        "library_name": home.opened_by,
        "pipeline_tag": home.pipeline(file),
        "tags": ["krohn", kind],
        "krohn": facts,
    }
    lines = [f"{key}: {json.dumps(value)}" for key, value in entries.items() if value]
    return "\n".join(["---", *lines, "---"])


def _list_names(names: Sequence[str]) -> str:
    """The first of some names, each once."""
    shown, room = list[str](), MOST_NAMES
    for name in map(in_markdown, dict.fromkeys(names)):
        room -= len(name) + 2
        if room < 0:
            return ", ".join([*shown, "…"])
        shown.append(name)
    return ", ".join(shown)


def _list_hashes(place: Path) -> str:
    """Hashes of the files of weights, by which a change of them is seen."""
    files = sorted(p for p in place.iterdir() if p.suffix in WEIGHTS)
    lines = [f"    {sha256(p.read_bytes()).hexdigest()}  {p.name}" for p in files]
    return (
        "\n".join([" SHA-256 of each file of weights does:\n", *lines]) if lines else ""
    )


def _again(home: Destination, digest: str, place: Path) -> str:
    """How to prove it again, and what nothing is claimed of."""
    padded = PADDED * (home.opened_by == "transformers")
    if home.read is None:
        return padded + (
            "This proves it again, from these files alone:\n\n"
            f"    krohn verify . --digest {digest}"
        )
    return padded + (
        "`krohn export` checked that these are the weights of F, the model file that "
        "this was exported from (docs/architectures/exports.md). F is not in this "
        "directory. This command proves F again:\n\n"
        f"    krohn verify F --digest {digest}\n\n"
        "The digest names what is claimed; it does not show whether weights were "
        f"changed since.{_list_hashes(place)}"
    )
