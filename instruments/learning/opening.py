"""Opening what learning can ask: model files, trained networks, exports, functions."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.minimisation import Shows, output_classes
from krohn.alignment import shows_names
from krohn.architectures.exports.destinations import destination
from krohn.architectures.gpt2 import commands as gpt2
from krohn.foreign import is_state_dict, saying_outputs
from krohn.loading import file_of
from krohn.machines import OWN, machine_of, with_outputs
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import kind_of
from krohn.network.forward_pass import evaluation_mode
from krohn.network.modelfile import ModelFile, is_trained_network, names
from krohn.open_model import Model
from krohn.program import strict_json
from krohn.program.files import read_bytes
from krohn.program.quoting import kind_of_value
from krohn.program.word_texts import join_letters
from krohn.source_kinds import of_file
from krohn.verify.testing.counterexample import Simulator
from krohn.verify.testing.examination import BlackBox, black_box


@dataclass(frozen=True)
class CompileOptions:
    """A network that can be asked, and what it should be.

    Attributes:
        model: It, as one that says outputs, whatever these are.
        shows: What they are of the machine.
        machine: The machine that it is held against; None if none is known.
        length: The longest word that something is claimed of; None if nothing is.
        name: What to call it.
    """

    model: Simulator
    shows: Shows
    machine: Automaton | None
    length: int | None
    name: str


def open_network(
    model: object,
    machine: object,
    observe: str | None,
    vocabulary: int | None = None,
) -> CompileOptions:
    """A network to ask, from whatever it is in.

    Args:
        model: A model file or its path, a compiled or an open model, the file of a trained
            network, of its state dict (``.pt``) or the folder of its run, the directory
            of an export to Hugging Face or GPT-2; or any function from words to answers.
        machine: What to hold the learned machine against; None for what the file states.
        observe: What of this machine the network says.
        vocabulary: How many letters a network in Python reads, or of how many words are
            made; None for what it says of itself, or the machine has.

    Raises:
        KrohnError: If it cannot be read or asked, or has other letters than the machine.
    """
    model = file_of(model) or model
    if isinstance(model, str | Path) and os.path.isdir(model):
        asked = _directory(Path(model), machine, observe)
    elif is_state_dict(model) or isinstance(model, Mapping):
        asked = _tensors(model, machine, observe)
    elif isinstance(model, str | Path) and is_trained_network(model):
        asked = _open_trained(str(model), machine, observe)
    elif isinstance(model, str | Path | ModelFile):
        file = model if isinstance(model, ModelFile) else modelfile.read(model)
        asked = _of_file(file, machine, observe)
    else:
        asked = _function(model, machine, observe, vocabulary)
    if vocabulary is not None and vocabulary != len(asked.model.letters):
        raise KrohnError(
            f"vocabulary={vocabulary}: the network reads {len(asked.model.letters)} "
            "letters, by what it or the machine says"
        )
    wanted = asked.machine
    if wanted is not None and set(wanted.letters) != set(asked.model.letters):
        raise KrohnError(
            f"the network reads {join_letters(asked.model.letters)}, and {wanted.name} "
            f"{join_letters(wanted.letters)}"
        )
    return asked


def _of_file(file: ModelFile, machine: object, observe: str | None) -> CompileOptions:
    """The network of a model file, whose states become outputs, too."""
    shows: Shows = file.claim.shows.value
    if observe is not None and shows == "states":
        raise KrohnError("--observe is for networks that say outputs; this says states")
    wanted: Automaton | None = None
    if machine is not None:
        wanted = with_outputs(machine_of(machine), _observation(shows, observe))
    kind = of_file(file)
    name, letters, classes = kind.letters_and_classes(file, wanted)
    if wanted is not None and shows_names(wanted, classes):
        shows = "outputs"
    wanted = wanted or kind.stated_machine(file)
    length = file.claim.length
    if kind_of(file.architecture).answers != "classes":
        raise KrohnError(
            "the network says laws; machines are learned from networks that say one of "
            "several classes after each letter"
        )
    model = Model(saying_outputs(file, letters, classes))
    if not model.causal:
        raise KrohnError("its answer after a letter depends on later letters")
    return CompileOptions(model, shows, wanted, length, name)


def _observation(shows: Shows, observe: str | None) -> str | None:
    return (observe or OWN) if shows == "outputs" else None


def _open_trained(path: str, machine: object, observe: str | None) -> CompileOptions:
    """A trained network, with the names of a machine or with numbers."""
    from krohn.instruments.compare.models.files import load

    network = load(path)
    has = network.specification
    shows: Shows = "states" if observe is None else "outputs"
    if machine is None:
        if observe is not None:
            raise KrohnError("--observe needs --machine, the machine that is observed")
        letters, classes = map(numbers, (has.letters, has.classes))
        box = BlackBox(network, letters, classes, "outputs", network.longest)
        return CompileOptions(box, shows, None, None, path)
    wanted = with_outputs(machine_of(machine), observe)
    named_box = black_box(network, wanted, shows, network.longest)
    if (has.letters, has.classes) != (len(named_box.letters), len(named_box.classes)):
        raise KrohnError(
            f"the network has {has.letters} letters and {has.classes} classes, and "
            f"{wanted.name} {len(named_box.letters)} and {len(named_box.classes)}"
        )
    return CompileOptions(
        replace(named_box, shows="outputs"), shows, wanted, None, path
    )


def _directory(path: Path, machine: object, observe: str | None) -> CompileOptions:
    """The network of a run of `krohn compare`, or of an export."""
    from krohn.instruments.compare.training.folder import (
        CHECKPOINT,
        RECORD,
        WEIGHTS,
    )

    if (path / RECORD).is_file():
        if not (path / WEIGHTS).is_file():
            some = " (it has a checkpoint)" if (path / CHECKPOINT).is_file() else ""
            raise KrohnError(f"{path}: the run is not finished{some}")
        if machine is None:
            machine, observe = _task(path / RECORD)
        return _open_trained(str(path / WEIGHTS), machine, observe)
    if not (path / "config.json").is_file():
        raise KrohnError(f"{path} holds no run of krohn compare, and no export")
    home, letters, classes, shows, length = _read_export(path)
    try:
        logits = destination(home).open(path)
    except MemoryError:
        raise
    except Exception as error:  # of what libraries say of damaged files there is no end
        reason = " ".join(str(error).split())[:200]
        raise KrohnError(f"{path} cannot be opened: {reason}") from error

    def reads(tokens: Any) -> torch.Tensor:
        return logits(torch.from_numpy(tokens))

    wanted = None
    if machine is not None:
        wanted = with_outputs(machine_of(machine), _observation(shows, observe))
    box = BlackBox(reads, letters, classes, "outputs", length)
    return CompileOptions(box, shows, wanted, length, str(path))


def _task(record: Path) -> tuple[Automaton | None, str | None]:
    """The machine that a run was trained on, and what of it is to be said."""
    try:
        task = strict_json.read(read_bytes(record))["run"]["task"]
        if task["kind"] != "Task" or task["predicts"] != "class":
            raise KrohnError(
                f"{record}: the network was not trained to say classes after each letter"
            )
        seen = OWN if task["shows"] == "outputs" else None
        return json_format.from_object(task["machine"]), seen
    except (OSError, ValueError, LookupError, TypeError):
        raise KrohnError(f"{record} is damaged") from None


def _read_export(
    path: Path,
) -> tuple[str, tuple[str, ...], tuple[str, ...], Shows, int | None]:
    """Where it went, letters, classes, what these are, and the longest word."""
    try:
        config = strict_json.read(read_bytes(path / "config.json"))
        if "krohn" in config:  # a GPT-2
            about = gpt2.open_directory(path).file.claim
            shows: Shows = about.shows.value
            return "gpt2", about.letters, about.answers, shows, about.length
        if config["writes"]:
            raise KrohnError(f"{path}: the network writes texts")
        claim = config["claim"]
        shows = "outputs" if claim.get("shows") == "outputs" else "states"
        classes = tuple(
            config.get("states")
            or (config["id2label"][str(i)] for i in range(len(config["id2label"])))
        )
        letters = names(config, "letters")
        return "huggingface", letters, classes, shows, claim["length"]
    except (OSError, ValueError, LookupError, TypeError, ModelFileError):
        raise KrohnError(
            f"{path} is no export of Krohn; from Python, krohn.learn takes any function "
            "from words to answers"
        ) from None


def _tensors(model: object, machine: object, observe: str | None) -> CompileOptions:
    """A recurrent network that a state dict holds, with names of a machine or numbers."""
    from krohn.architectures.gated.commands import (
        Layer,
        model_file,
        tensors_of,
    )

    name = "the network" if isinstance(model, Mapping) else str(model)
    shows: Shows = "states" if observe is None else "outputs"
    wanted = None if machine is None else with_outputs(machine_of(machine), observe)
    tensors = tensors_of(model)
    assert tensors is not None
    letters, classes = map(numbers, Layer.of(tensors).counts)
    named_machine = wanted
    if named_machine is None:
        # A file needs a machine: one that never moves, of which only names are used.
        still = np.tile(np.arange(len(classes)), (len(letters), 1))
        named_machine = Automaton(
            Semiautomaton(still, letters, classes), name="numbers"
        )
    file = model_file(tensors, named_machine, observe)
    assert file is not None
    if wanted is not None:
        letters, classes = wanted.letters, output_classes(wanted, shows).names
    run = Model(saying_outputs(file, letters, classes))
    return CompileOptions(run, shows if wanted else "outputs", wanted, None, name)


def _function(
    model: object, machine: object, observe: str | None, vocabulary: int | None
) -> CompileOptions:
    """Any function, with the names of a machine, or with numbers."""
    shows: Shows = "states" if observe is None else "outputs"
    wanted = None if machine is None else with_outputs(machine_of(machine), observe)
    if isinstance(model, BlackBox):
        box = replace(model, shows="outputs")
        return CompileOptions(box, model.shows, wanted, None, "the network")
    if not callable(model):
        raise KrohnError(
            f"{kind_of_value(model)} is not a network or a function that answers words"
        )
    reads = cast("Callable[[Any], Any]", model)
    longest = longest_word(model)
    if wanted is None:
        if observe is not None:
            raise KrohnError("observe= needs machine=, which is observed")
        box = make_numbered_box(reads, vocabulary, longest)
        return CompileOptions(box, "outputs", None, None, "the network")
    box = replace(black_box(reads, wanted, shows, longest), shows="outputs")
    return CompileOptions(box, shows, wanted, None, "the network")


# Networks in Python of which no machine is known: letters and classes are numbers.


MOST = 1000
"""Networks of more letters are asked about some of them only."""
POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length")
"""The names by which configurations of Hugging Face say how long words may be."""


def numbers(count: int) -> tuple[str, ...]:
    """The names of letters or classes that have none."""
    return tuple(map(str, range(count)))


def longest_word(model: object) -> int | None:
    """How many letters a model of Hugging Face reads; None if it does not say so."""
    config = getattr(model, "config", None)
    limits = [getattr(config, name, None) for name in POSITIONS]
    return next((n for n in limits if type(n) is int and n > 0), None)


def make_numbered_box(
    reads: Callable[[Any], Any], letters: int | None, longest: int | None
) -> BlackBox:
    """A network whose letters and classes are numbered from 0.

    Args:
        reads: A module or function from words to logits; see `BlackBox`.
        letters: How many letters words are made of; None for all that it reads.
        longest: How many letters it reads.

    Raises:
        KrohnError: If nothing says how many letters it reads, there are too many, or it
            does not give logits.
    """
    count = _letters(reads) if letters is None else letters
    if count is None:
        raise KrohnError(
            "say vocabulary=, how many letters the network reads, or machine=, which names "
            "letters and answers"
        )
    if not 0 < count <= MOST:
        raise KrohnError(
            f"the network reads {count:,} letters; say vocabulary=N, at most {MOST:,}, to "
            "learn what it does with the first N"
        )
    return BlackBox(reads, numbers(count), numbers(_classes(reads)), "outputs", longest)


def _letters(reads: object) -> int | None:
    """How many letters a module reads, by its configuration or its only embedding."""
    if not isinstance(reads, nn.Module):
        return None
    known = getattr(getattr(reads, "config", None), "vocab_size", None)
    if type(known) is int:
        return known
    modules = list(reads.modules())
    tables = [m.num_embeddings for m in modules if isinstance(m, nn.Embedding)]
    layers = [m for m in modules if isinstance(m, nn.RNNBase)]
    if not tables and len(layers) == 1:
        return layers[0].input_size
    return tables[0] if len(tables) == 1 else None


def _classes(reads: Callable[[Any], Any]) -> int:
    """How many logits a network gives after each letter of a short word."""
    box = BlackBox(reads, ("0",), ("0",))
    word = torch.zeros((1, 2), dtype=torch.int64, device=box.device)
    module = isinstance(reads, nn.Module)
    with evaluation_mode(reads), torch.inference_mode():
        try:
            logits = reads(word if module else word.numpy())
        except MemoryError:
            raise
        except Exception as error:  # of what networks say of words there is no end
            reason = " ".join(str(error).split())[:200]
            raise KrohnError(
                f"the network does not read letter indices (count, length): {reason}"
            ) from None
    logits = getattr(logits, "logits", logits)
    shape = tuple(np.shape(logits)) if hasattr(logits, "shape") else ()
    if len(shape) != 3 or shape[:2] != (1, 2):
        raise KrohnError(
            "the network must give logits (count, length, classes) for letter indices "
            f"(count, length), and gave {shape or type(logits).__name__}; if it "
            "gives class indices, say machine=, which has their number"
        )
    return int(shape[2])
