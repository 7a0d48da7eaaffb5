"""Making the set: each network compiled, proved, exported, with words and interchanges."""

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from krohn import evidence
from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.compilation import compile as compiled
from krohn.compiled_model import CompiledModel
from krohn.exporting import export
from krohn.intervention import run_changed, stated
from krohn.network.errors import ExportError
from krohn.network.exports import circuit
from krohn.network.model import said
from krohn.open_model import Model
from krohn.program.domains import IntArray
from krohn.program.interpreter import Held, interpret
from krohn.program.writing import whole_directory
from krohn.report import Progress, silent
from krohn.source_kinds import of_file
from krohn.verification import verify
from krohn.verify.testing.sampling import draws
from krohn.workbench.models import MODELS, Entry

FORMAT, VERSION = "krohn-workbench", 1
INDEX, MODEL, EVIDENCE = "workbench.json", "model.safetensors", "evidence.json"
WORDS, PAIRS = "words.jsonl", "pairs.jsonl"
FORMS = ("transformer-lens", "huggingface", "gpt2")
WHAT = """\
# Networks with known circuits

Each folder holds one Transformer whose weights were derived, not trained, and proved: it
computes its task on every word up to the stated length, in the number format of the file.

* `model.safetensors`: the network (`krohn.load`). `evidence.json` is the proof, for
  `krohn recheck`.
* `circuit.json`: the variables, where each lies, which component writes it, and the edges
  between components.
* `words.jsonl`: words with the right answer after each letter, the first one after letter
  `from` (1, or the end of a prompt).
* `pairs.jsonl`: interchange interventions: a word, a second word, a variable and a
  position. The variable is given the value that it has in the second word there; then
  `answers` are right.
* `transformer-lens/`, `huggingface/`, `gpt2/`: the same network in these forms, each with a
  README.

`workbench.json` lists all networks. `krohn workbench DIR --check` verifies them again, and
`krohn score NAME/circuit.json EDGES.csv` holds edges that a method found against a circuit.
"""


@dataclass(frozen=True)
class Made:
    """A network of the set, as `workbench.json` tells it.

    Attributes:
        name: Its folder.
        family: The family of tasks.
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
        forms: For each form what is proved of it, or why there is none.
    """

    name: str
    family: str
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
    forms: dict[str, str]


def make(
    directory: str | Path,
    only: Iterable[str] = (),
    *,
    words: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Made]:
    """Write the set of networks with known circuits.

    Args:
        directory: Where to write; it must not exist, or be empty.
        only: The names of some networks; all if there are none.
        words: How many words, and how many interchange interventions, to list for each;
            so many words are run through each export as well.
        seed: Of these.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If a name is unknown, a network or an export is wrong, or the
            directory has something in it.
        ModelFileError: If a library that an export needs is not installed.
    """
    chosen, report = _chosen(only), progress or silent
    with whole_directory(Path(directory)) as place:
        found = []
        for i, entry in enumerate(chosen):
            report(entry.name, i, len(chosen))
            home = place / entry.name
            home.mkdir()
            found.append(_make(entry, home, words, np.random.default_rng([seed, i])))
        told = {"format": FORMAT, "version": VERSION, "seed": seed}
        told["models"] = [vars(each) for each in found]
        text = json.dumps(told, ensure_ascii=False, indent=1)
        (place / INDEX).write_text(text + "\n", encoding="utf-8")
        (place / "README.md").write_text(WHAT, encoding="utf-8")
    return found


def _chosen(only: Iterable[str]) -> list[Entry]:
    names = {entry.name: entry for entry in MODELS}
    if isinstance(only, str):
        raise KrohnError(f"only is a list of names, as [{only!r}], not a string")
    for name in (only := list(only)):
        if name not in names:
            raise KrohnError(
                f"the workbench has no network {name!r}{near(name, names)}"
            )
    return [entry for entry in MODELS if not only or entry.name in only]


def _make(entry: Entry, home: Path, words: int, rng: np.random.Generator) -> Made:
    model = compiled(entry.source, entry.length, strict=True, keep=True)
    path = home / MODEL
    model.save(path)
    evidence.write(verify(path, proof=True), path, home / EVIDENCE)
    circuit.write(model.file, home)
    (home / "circuit.csv").unlink()
    open_model = Model(model.file)
    texts, start = drawn(open_model, words, rng)
    _write_lines(home / WORDS, listed(open_model, texts, start))
    texts = texts if start is None else texts[:, :-1]
    pairs = list(interchanges(open_model, texts, rng))
    _write_lines(home / PAIRS, pairs)
    told = circuit.circuit(model.file)
    shape = model.file.header["architecture"]
    return Made(
        entry.name,
        entry.family,
        entry.source,
        shape["positions"] - 1,
        model.construction,
        len(shape["blocks"]),
        sum(block["heads"] for block in shape["blocks"]),
        sum(t.size for t in model.file.tensors.values()),
        len(told["variables"]),
        (
            len({(e["from"], e["to"]) for e in told["edges"]}),
            len(circuit.possible(told)),
        ),
        model.claim.digest,
        len(texts),
        len(pairs),
        _forms(model, home, words),
    )


def _forms(model: CompiledModel, home: Path, words: int) -> dict[str, str]:
    """Write the exports; of each what is proved, or why there is none."""
    found = {}
    for form in FORMS:
        try:
            done = export(model, to=form, directory=home / form, sample=words)
            found[form] = done.proved
            if done.proved.startswith("not proved"):
                shutil.rmtree(home / form)
                found[form] = f"none: {done.proved}"
        except ExportError as error:
            found[form] = f"none: {error}"
    return found


# Words, and interchange interventions.


def drawn(
    model: Model, count: int, rng: np.random.Generator
) -> tuple[IntArray, int | None]:
    """Random inputs ``(count, length)``, as letter indices, and where texts begin.

    Networks that write texts get a prompt with its text; others get adversarial words, and
    there is no such place.
    """
    kind = of_file(model.file)
    whole = kind.whole(model.file, lambda _: count, rng)
    if whole is not None and whole.told is not None:
        return whole.rows(slice(0, min(count, whole.count))), whole.told
    machine, length = kind.stated_machine(model.file), model.length or 1
    if machine is None:
        return rng.integers(len(model.letters), size=(count, length)), None
    seed = int(rng.integers(2**31))
    words = [each for _, each in draws(machine, count, length, seed)]
    return rng.permutation(np.concatenate(words)), None


def listed(
    model: Model, words: IntArray, start: int | None
) -> Iterator[dict[str, Any]]:
    """Words with the answers after each letter, or prompts with their texts.

    The network is proved to give these answers.
    """
    if start is not None:
        for row in words.tolist():
            letters = [model.letters[a] for a in row]
            yield {"word": letters[:-1], "from": start, "answers": letters[start:]}
        return
    with torch.inference_mode():
        logits = model.network(torch.from_numpy(words))
    for row, each in zip(words.tolist(), logits, strict=True):
        letters = [model.letters[a] for a in row]
        yield {"word": letters, "from": 1, "answers": list(said(each, model.classes))}


def interchanges(
    model: Model, words: IntArray, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Interchange interventions: a variable is given its value in another word.

    They are those that the Program predicts whole; the network answers each as predicted.

    Raises:
        KrohnError: If the network answers another way.
    """
    program = stated(model)
    values = interpret(program, words)
    others = rng.permutation(len(words))
    at = rng.integers(1, words.shape[1] + 1, size=len(words))
    names = [name for name, c in program.channels.items() if c.stored]
    which = rng.integers(len(names), size=len(words))
    for i, name in enumerate(names):
        rows = np.flatnonzero(which == i)
        if not len(rows):
            continue
        given = values[name][others[rows], at[rows]]
        for told in _interchanged(model, name, words[rows], at[rows], given):
            row, answers = told
            yield {
                "base": [model.letters[a] for a in words[rows[row]].tolist()],
                "source": [model.letters[a] for a in words[others[rows[row]]].tolist()],
                "variable": name,
                "position": int(at[rows[row]]),
                "value": int(given[row]),
                "answers": answers,
            }


def _interchanged(
    model: Model, name: str, words: IntArray, at: IntArray, given: IntArray
) -> Iterator[tuple[int, list[str]]]:
    """The rows whose answers are predicted at every letter, with these answers."""
    shape, each = (len(words), words.shape[1] + 1), np.arange(len(words))
    held = Held(np.zeros(shape, np.int64), np.zeros(shape, np.bool_))
    assert held.where is not None
    held.values[each, at], held.where[each, at] = given, True
    with torch.inference_mode():
        logits, predicted = run_changed(model, torch.from_numpy(words), {name: held})
    for row, wanted in enumerate(predicted.answers):
        if (wanted < 0).any():
            continue
        answers = [model.classes[q] for q in wanted.tolist()]
        if list(said(logits[row], model.classes)) != answers:
            raise KrohnError(
                f"with {name} = {given[row]} at {at[row]} the network does not answer as "
                "its Program predicts"
            )
        yield row, answers


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
