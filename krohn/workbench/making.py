"""Making the set: each network compiled, proved, exported, with words and interchanges."""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch

from krohn import evidence
from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.compilation import CompileKeywords, compile as compiled
from krohn.compiled_model import CompiledModel
from krohn.exporting import export
from krohn.intervention import stated
from krohn.jobs.worker_pool import Report, processes, this_process
from krohn.network import ExportError, modelfile
from krohn.network.disguise import is_disguised, running_tensors
from krohn.network.exports import circuit, destination
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model
from krohn.program.writing import whole_directory
from krohn.report import Progress, silent
from krohn.verification import verify
from krohn.workbench.answers import (
    MODEL,
    PAIRS,
    WORDS,
    drawn,
    interchanges,
    listed,
    right,
    right_changed,
)
from krohn.workbench.models import MODELS, Entry, Level
from krohn.workbench.training import trained

FORMAT, VERSION = "krohn-workbench", 2
INDEX, EVIDENCE = "workbench.json", "evidence.json"
FORMS = ("transformer-lens", "huggingface", "gpt2")
DISGUISE, TRAINING_WORDS = "rotate,dense", 2_000
WHAT = """\
# Networks with known circuits

Each folder holds one Transformer. Its README.md says what it is. There are three levels:

* plain: weights are derived, not trained, and proved. The network computes its task on
  every word up to the stated length, in the number format of the file. Each variable has
  dimensions of its own.
* disguised: another network with the same variables, proved as well. Weights are not zero,
  and variables lie along directions.
* trained: a disguised network that was spoiled by noise and trained to hold the same
  variables. It is proved of nothing; how often it is right was measured.

Files:

* `model.safetensors`: the network (`krohn.load`). `evidence.json` is the proof, for
  `krohn recheck`.
* `circuit.json`: the variables, where each lies, which component writes it, and the edges
  between components.
* `words.jsonl`: words with the right answer after each letter, the first one after letter
  `from` (1, or the end of a prompt). The answer of a network that says beliefs is a law:
  a number for each state.
* `pairs.jsonl`: interchange interventions: a word, a second word, a variable and a
  position. The variable is given the value that it has in the second word there; then
  `answers` are right.
* `transformer-lens/`, `huggingface/`, `gpt2/`: the same network in these forms, each with a
  README.

`workbench.json` lists all networks. `krohn workbench DIR --check` verifies them again, and
`krohn score NAME/circuit.json ANSWER` holds what a method found against a circuit.
"""
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


def make(
    directory: str | Path,
    only: Iterable[str] = (),
    *,
    words: int = 200,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Made]:
    """Write the set of networks with known circuits.

    Args:
        directory: Where to write; it must not exist, or be empty.
        only: The names of some networks; all if there are none.
        words: How many words, and how many interchange interventions, to list for each;
            so many words are run through each export as well.
        seed: Of these.
        jobs: How many networks are made at a time.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If a name is unknown, a network or an export is wrong, or the
            directory has something in it.
        ModelFileError: If a library that an export needs is not installed.
    """
    names = chosen([entry.name for entry in MODELS], only)
    with whole_directory(Path(directory)) as place:
        for name in names:
            (place / name).mkdir()
        found = each(names, Making(place, words, seed), jobs, progress)
        told = {"format": FORMAT, "version": VERSION, "seed": seed}
        told["models"] = [vars(each) for each in found]
        text = json.dumps(told, ensure_ascii=False, indent=1)
        (place / INDEX).write_text(text + "\n", encoding="utf-8")
        (place / "README.md").write_text(WHAT, encoding="utf-8")
    return found


def each(
    names: list[str], work: Any, jobs: int, progress: Progress | None
) -> list[Any]:
    """Results of some work on each network, in their order.

    Args:
        names: Of the networks.
        work: A `krohn.jobs.worker_pool.Work` whose tasks are names.
        jobs: How many processes.
        progress: Called with a name, how many networks are done, and of how many.

    Raises:
        KrohnError: If the work on one does.
    """
    if jobs < 1:
        raise KrohnError(f"at least one network is made at a time, not {jobs}")
    report, found = progress or silent, dict[str, Any]()
    many = min(jobs, len(names))
    with processes(work, many) if many > 1 else this_process(work) as pool:
        for name, came in pool.each(names):
            if isinstance(came, KrohnError):
                raise came
            found[name] = came
            report(name, len(found), len(names))
    return [found[name] for name in names]


@dataclass(frozen=True)
class Making:
    """The work of making networks in a directory that has a folder for each."""

    place: Path
    words: int
    seed: int

    def open(self, own: bool) -> Callable[[str, Report], Made]:
        """Make this process ready: several of them share the cores."""
        if own:
            torch.set_num_threads(1)
        return self._make

    def _make(self, name: str, report: Report) -> Made:
        entry = next(entry for entry in MODELS if entry.name == name)
        rng = np.random.default_rng([self.seed, crc32(name.encode())])
        return _make(entry, self.place / name, self.words, rng)


def chosen(names: Iterable[str], only: Iterable[str]) -> list[str]:
    """Those of the names of networks that are asked for; all if none is.

    Raises:
        KrohnError: If one is unknown.
    """
    if isinstance(only, str):
        raise KrohnError(f"only is a list of names, as [{only!r}], not a string")
    known, wanted = list(names), list(only)
    for name in wanted:
        if name not in known:
            raise KrohnError(
                f"the workbench has no network {name!r}{near(name, known)}"
            )
    return [name for name in known if not wanted or name in wanted]


def of_entry(entry: Entry, rng: np.random.Generator) -> CompiledModel:
    """The network of an entry, proved; a trained one, whose file claims too much."""
    options: CompileKeywords = {"strict": True, "keep": True}
    if entry.within is not None:
        options["within"] = entry.within
    if entry.level == "plain":
        return compiled(entry.source, entry.length, **options)
    options |= {"disguise": DISGUISE, "seed": 1}
    model = compiled(entry.source, entry.length, **options)
    if entry.level == "disguised":
        return model
    start = Model(model.file)
    words, _ = drawn(start, TRAINING_WORDS, rng)
    further = trained(model.file, stated(start), words, rng)
    return replace(model, compiled=further, shown=None)


def _make(entry: Entry, home: Path, words: int, rng: np.random.Generator) -> Made:
    model = of_entry(entry, rng)
    path, proved = home / MODEL, entry.level != "trained"
    if proved:
        model.save(path)
        evidence.write(verify(path, proof=True), path, home / EVIDENCE)
    else:
        modelfile.write(path, model.file.header, model.file.tensors)
    circuit.write(model.file, home)
    (home / "circuit.csv").unlink()
    open_model = Model(model.file)
    texts, start = drawn(open_model, words, rng)
    rows = list(listed(open_model, texts, start))
    texts = texts if start is None else texts[:, :-1]
    pairs = list(interchanges(open_model, texts, rng))
    _write_lines(home / WORDS, rows)
    _write_lines(home / PAIRS, pairs)
    told = circuit.circuit(model.file)
    shape = model.file.header["architecture"]
    made = Made(
        entry.name,
        entry.family,
        entry.level,
        proved,
        entry.source,
        shape["positions"] - 1,
        model.construction,
        len(shape["blocks"]),
        sum(block["heads"] for block in shape["blocks"]),
        sum(t.size for t in running_tensors(model.file).values()),
        len(told["variables"]),
        (
            len({(e["from"], e["to"]) for e in told["edges"]}),
            len(circuit.possible(told)),
        ),
        model.claim.digest,
        len(texts),
        len(pairs),
        float(np.mean([right(open_model, row) for row in rows])),
        float(np.mean([right_changed(open_model, row) for row in pairs])),
        _forms(model, home, words) if proved else _unproved(model.file, home),
    )
    wrong = made.accuracy < 1 or made.interchange < 1
    if proved and wrong:
        raise KrohnError(f"{entry.name} is proved, and does not answer as its Program")
    (home / "README.md").write_text(_card(made, open_model), encoding="utf-8")
    return made


def _card(made: Made, model: Model) -> str:
    """The data card of a network."""
    letters, classes = (
        ", ".join(names[:MOST_NAMES]) + ", …" * (len(names) > MOST_NAMES)
        for names in (list(model.letters), list(dict.fromkeys(model.classes)))
    )
    if made.family == "beliefs":
        classes = f"a law of {classes}, within {model.header['claim']['error']:.3g}"
    status = (
        f"proved for every word of up to {made.length} letters (evidence.json)"
        if made.proved
        else "trained; nothing is proved"
    )
    told = vars(made) | {"parameters": f"{made.parameters:,}"}
    return CARD.format(
        **told | {"forms": "\n".join(f"* {k}: {v}" for k, v in made.forms.items())},
        letters=letters,
        answers=classes,
        status=status,
        dtype=model.file.precision.name,
    )


def _forms(model: CompiledModel, home: Path, words: int) -> dict[str, str]:
    """Write the exports; of each what is proved, or why there is none."""
    found = {}
    for form in FORMS:
        if form == "gpt2" and is_disguised(model.file.header):
            found[form] = "none: a GPT-2 needs variables with dimensions of their own"
            continue
        try:
            done = export(model, to=form, directory=home / form, sample=words)
            found[form] = done.proved
            if done.proved.startswith("not proved"):
                shutil.rmtree(home / form)
                found[form] = f"none: {done.proved}"
        except ExportError as error:
            found[form] = f"none: {error}"
    return found


def _unproved(file: ModelFile, home: Path) -> dict[str, str]:
    """Write the exports of a network that may be wrong, with the tensors of its file."""
    found = {"gpt2": "none: only GPT-2s that are proved are in the set"}
    for form in ("transformer-lens", "huggingface"):
        (home / form).mkdir()
        destination(form).write(file, home / form, False)
        destination(form).proved(file, home / form)
        found[form] = "the tensors are those of the file, of which nothing is proved"
    return found


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
