"""Making the set: each network compiled, proved, exported, with words and interchanges."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.compilation import compile as compiled
from krohn.compile_options import CompileKeywords
from krohn.compiled_model import CompiledModel
from krohn.instruments.workbench import contents
from krohn.instruments.workbench.answers import (
    MODEL,
    sample_inputs,
)
from krohn.instruments.workbench.contents import (
    CARD_FILE,
    Drawing,
    Made,
)
from krohn.instruments.workbench.models import (
    MODELS,
    Entry,
)
from krohn.instruments.workbench.training import train_network
from krohn.intervention import read_program
from krohn.jobs.worker_pool import Report, processes, this_process
from krohn.network import modelfile
from krohn.open_model import Model
from krohn.program.writing import whole_directory
from krohn.report import Progress, silent

FORMAT, VERSION = "krohn-workbench", 3
INDEX = "workbench.json"
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
  variables. It is not proved; how often it is right was measured.

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

`workbench.json` lists all networks. `krohn workbench DIR --check` proves them again, and
derives all other files once more; `krohn score NAME/circuit.json ANSWER` scores
the circuit that a method found.
"""


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
    names = choose_names([entry.name for entry in MODELS], only)
    with whole_directory(Path(directory)) as place:
        for name in names:
            (place / name).mkdir()
        drawing = Drawing(seed, words)
        results = each(names, Making(place, drawing), jobs, progress)
        text = index(drawing, [vars(each) for each in results])
        (place / INDEX).write_text(text, encoding="utf-8")
        (place / CARD_FILE).write_text(WHAT, encoding="utf-8")
    return results


def index(drawing: Drawing, rows: list[dict[str, Any]]) -> str:
    """The text of the list of a set, of its networks one after the other."""
    content = {"format": FORMAT, "version": VERSION, **vars(drawing), "models": rows}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


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
    report, results = progress or silent, dict[str, Any]()
    many = min(jobs, len(names))
    with processes(work, many) if many > 1 else this_process(work) as pool:
        for name, came in pool.each(names):
            if isinstance(came, KrohnError):
                raise came
            results[name] = came
            report(name, len(results), len(names))
    return [results[name] for name in names]


@dataclass(frozen=True)
class Making:
    """The work of making networks in a directory that has a folder for each."""

    place: Path
    drawing: Drawing

    def open(self, own: bool) -> Callable[[str, Report], Made]:
        """Make this process ready: several of them share the cores."""
        if own:
            torch.set_num_threads(1)
        return self._make

    def _make(self, name: str, report: Report) -> Made:
        entry, home = entry_of(name), self.place / name
        model = of_entry(entry, self.drawing.rng(name, 1))
        if entry.level == "trained":
            modelfile.write(home / MODEL, model.file.header, model.file.tensors)
        else:
            model.save(home / MODEL)
        return contents.write(home, entry, self.drawing, self.drawing.words)[0]


def entry_of(name: str) -> Entry:
    """What a network of the set is of, by its name."""
    return next(entry for entry in MODELS if entry.name == name)


def choose_names(names: Iterable[str], only: Iterable[str]) -> list[str]:
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
    words, _ = sample_inputs(start, TRAINING_WORDS, rng)
    further = train_network(model.file, read_program(start), words, rng)
    return replace(model, original=further, original_proof=None)
