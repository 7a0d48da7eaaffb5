"""The folder of a network: all that stands in it beside the network itself.

It follows from the model file, its entry in the list and a seed. `make` writes it, and
`check` writes it once more and compares bytes. So nothing else says what a file holds.
"""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from krohn import evidence
from krohn.algebra.errors import KrohnError
from krohn.architectures.exports import circuit
from krohn.architectures.exports.commands import export
from krohn.architectures.exports.destinations import destination
from krohn.instruments.workbench.answers import (
    MODEL,
    PAIRS,
    WORDS,
    interchanges,
    list_answers,
    right,
    right_changed,
    sample_inputs,
)
from krohn.instruments.workbench.models import (
    Entry,
    Level,
)
from krohn.network import ExportError, modelfile
from krohn.network.directions import (
    is_disguised,
    running_tensors,
)
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model
from krohn.program.quoting import listed
from krohn.verification import verify

EVIDENCE, CARD_FILE = "evidence.json", "README.md"
FORMS = ("transformer-lens", "huggingface", "gpt2")
SLIGHT = 0.01
"""How far the accuracy of a trained network may be off on another machine."""
CARD = """\
# {name}

A Transformer with a known circuit: {source}, for words of up to {length} letters.

| | |
|---|---|
| family, level | {family}, {level} |
| construction | {construction} |
| size | {layers} blocks, {heads} heads, {parameters} parameters, {dtype} |
| circuit | {variables} variables; {edges[0]} of {edges[1]} possible edges |
| letters | {letters} |
| answers | {answers} |
| status | {status} |
| digest of the claim | `{digest}` |
| right on the {words} words of words.jsonl | {accuracy:.4f} of the answers |
| right on the {pairs} interchanges of pairs.jsonl | {interchange:.4f} of the answers |

Forms:

{forms}

All data are made by Krohn from the seed in workbench.json: words are drawn by chance, and
no person wrote any. Licence: Apache-2.0.
"""
MOST_NAMES = 12


@dataclass(frozen=True)
class Made:
    """A network of the set, as `workbench.json` tells it.

    Attributes:
        name: Its folder.
        family: The family of tasks.
        level: How its weights came about.
        proved: Whether it is proved; trained networks are not.
        source: What it was compiled from.
        length: The longest word for which it is proved.
        construction: How it was built.
        layers: How many blocks it has.
        heads: How many heads in all.
        parameters: How many numbers it has.
        variables: How many variables lie in its residual stream.
        edges: How many edges its circuit has, of how many that it could have.
        digest: Of the claim that is proved.
        words: How many words are listed.
        pairs: How many interchange interventions are listed.
        accuracy: The share of right answers to the listed words.
        interchange: The share of answers after listed interchanges that are as predicted.
        forms: For each form what is proved of it, or why there is none.
    """

    name: str
    family: str
    level: Level
    proved: bool
    source: str
    length: int
    construction: str
    layers: int
    heads: int
    parameters: int
    variables: int
    edges: tuple[int, int]
    digest: str
    words: int
    pairs: int
    accuracy: float
    interchange: float
    forms: dict[str, str]


@dataclass(frozen=True)
class Drawing:
    """How words and interchange interventions are drawn.

    Attributes:
        seed: Of all of them.
        words: How many words, and how many interventions, there are at most.
    """

    seed: int
    words: int

    def rng(self, name: str, *more: int) -> np.random.Generator:
        """Numbers for a network, of which other networks get others."""
        return np.random.default_rng([self.seed, crc32(name.encode()), *more])


def write(
    home: Path,
    entry: Entry,
    drawing: Drawing,
    sample: int,
    measured: Mapping[str, Any] | None = None,
) -> tuple[Made, int]:
    """Write all files of a folder that has its model file; prove that first.

    Args:
        home: The folder.
        entry: What it is a network of.
        drawing: How its words are drawn.
        sample: How many words to run through each export.
        measured: How often a trained network was right on another machine: that is told
            again where it is nearly so on this one.

    Returns:
        What the list tells, and how many words were run through exports.

    Raises:
        KrohnError: If it is not proved, although it should be, or an answer is wrong.
    """
    file, proved = modelfile.read(home / MODEL), None
    if entry.level != "trained":
        report = verify(home / MODEL, entry.source, proof=True)
        proved = evidence.write(report, home / MODEL, home / EVIDENCE).proved
    model = Model(file)
    circuit.write(file, home)
    (home / "circuit.csv").unlink()
    words, pairs = _lines(model, drawing.rng(entry.name), drawing.words)
    _write_lines(home / WORDS, words)
    _write_lines(home / PAIRS, pairs)
    forms, ran = (
        _forms(file, home, sample) if proved else (_write_unproved(file, home), 0)
    )
    made = Made(
        name=entry.name,
        family=entry.family,
        level=entry.level,
        proved=proved is not None,
        source=entry.source,
        **_sizes(file),
        **_answers(model, words, pairs),
        forms=forms,
    )
    if proved and (made.accuracy < 1 or made.interchange < 1):
        raise KrohnError(f"{entry.name} is proved, and does not answer as its Program")
    if not proved and measured is not None:
        made = _as_measured(made, measured)
    text = _card(made, model, f"proved: {proved}" if proved else "not proved")
    (home / CARD_FILE).write_text(text, encoding="utf-8")
    return made, ran


def _lines(
    model: Model, rng: np.random.Generator, count: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The words of a network, and its interchange interventions."""
    texts, start = sample_inputs(model, count, rng)
    words = list(list_answers(model, texts, start))
    texts = texts if start is None else texts[:, :-1]
    return words, list(interchanges(model, texts, rng))


def _sizes(file: ModelFile) -> dict[str, Any]:
    """How the network was built, how large it and its circuit are, and its claim."""
    shape, content = file.architecture, circuit.circuit(file)
    edges = {(each["from"], each["to"]) for each in content["edges"]}
    return {
        "length": shape.positions - 1,
        "construction": file.header["construction"],
        "layers": len(shape.blocks),
        "heads": sum(block.heads for block in shape.blocks),
        "parameters": sum(t.size for t in running_tensors(file).values()),
        "variables": len(content["variables"]),
        "edges": (len(edges), len(circuit.possible(content))),
        "digest": file.claim.digest,
    }


def _answers(
    model: Model, words: list[dict[str, Any]], pairs: list[dict[str, Any]]
) -> dict[str, Any]:
    """How many words and interchanges there are, and how often the network is right."""
    return {
        "words": len(words),
        "pairs": len(pairs),
        "accuracy": float(np.mean([right(model, row) for row in words])),
        "interchange": float(np.mean([right_changed(model, row) for row in pairs])),
    }


def _as_measured(made: Made, measured: Mapping[str, Any]) -> Made:
    """With what was measured on another machine, where that is nearly so here."""

    def near(name: str, here: float) -> float:
        there = measured.get(name)
        if isinstance(there, float) and abs(there - here) <= SLIGHT:
            return there
        return here

    accuracy = near("accuracy", made.accuracy)
    interchange = near("interchange", made.interchange)
    return replace(made, accuracy=accuracy, interchange=interchange)


def _card(made: Made, model: Model, status: str) -> str:
    """The data card of a network; its status is the sentence of the checker."""
    letters, classes = (
        listed(names, MOST_NAMES)
        for names in (list(model.letters), list(dict.fromkeys(model.classes)))
    )
    if made.family == "beliefs":
        classes = f"a law of {classes}"
    entries = vars(made) | {"parameters": f"{made.parameters:,}"}
    return CARD.format(
        **entries | {"forms": "\n".join(f"* {k}: {v}" for k, v in made.forms.items())},
        letters=letters,
        answers=classes,
        status=status,
        dtype=model.file.precision.name,
    )


def _forms(file: ModelFile, home: Path, sample: int) -> tuple[dict[str, str], int]:
    """Write the exports; of each what is proved, or why there is none; and what was run."""
    remarks, ran = dict[str, str](), 0
    for form in FORMS:
        if form == "gpt2" and is_disguised(file):
            remarks[form] = "none: a GPT-2 needs variables with dimensions of their own"
            continue
        try:
            done = export(file, to=form, directory=home / form, sample=sample)
            remarks[form] = done.proved
            if done.verdict != "verified":
                shutil.rmtree(home / form)
                remarks[form] = f"none: {done.proved}"
            else:
                ran += done.ran.words
        except ExportError as error:
            remarks[form] = f"none: {error}"
    return remarks, ran


def _write_unproved(file: ModelFile, home: Path) -> dict[str, str]:
    """Write the exports of a network that may be wrong, with the tensors of its file."""
    remarks = {"gpt2": "none: only GPT-2s that are proved are in the set"}
    for form in ("transformer-lens", "huggingface"):
        (home / form).mkdir()
        to = destination(form)
        to.write(file, home / form, False)
        assert to.read is not None
        to.read(file, home / form)
        remarks[form] = "the tensors are those of the file, of which nothing is proved"
    return remarks


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
