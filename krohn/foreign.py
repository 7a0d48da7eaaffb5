"""Model files of others: tensors, perhaps an alphabet, but no machine and no Program."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os.path import isdir
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Protocol

import numpy as np

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.wording import cut
from krohn.network.modelfile import LARGEST_FILE, ModelFile, is_trained_network
from krohn.program.claim import Shows
from krohn.program.files import read_bytes
from krohn.program.quoting import kind_of_value
from krohn.program.slices import part

BY_ORDER = "the file names no {}; they are taken in the order of those of the machine"


class Headed(Protocol):
    """A file, or an open model."""

    @property
    def header(self) -> Mapping[str, Any]:
        """The header of the file."""
        ...


def source_name(header: Mapping[str, Any]) -> str:
    """The name of the machine, or of the other source, that a file is about."""
    subject = header.get("source") or header.get("machine") or {}
    return cut(str(subject.get("name", "machine")), 40)


def names_machine(file: Headed) -> bool:
    """Whether a file states its machine, and not only names of letters and states."""
    stated = set(stated_machine(file))
    return bool(stated - {"letters", "states", "output"})


def stated_machine(file: Headed) -> dict[str, Any]:
    """The machine in the header.

    Raises:
        KrohnError: If the file is about another source.
    """
    if "source" in file.header:
        raise KrohnError(
            f"the file is about another source, {file.header['source'].get('kind')!r}, "
            "not about a machine; `krohn run` and `krohn verify` take it"
        )
    machine: dict[str, Any] = file.header["machine"]
    return machine


def own_machine(file: Headed) -> Automaton:
    """The machine that a file states; one that never moves if it only states names.

    Raises:
        KrohnError: If it states no names, or what it states is damaged.
    """
    stated = stated_machine(file)
    if names_machine(file):
        action = {k: file.header[k] for k in ("action",) if k in file.header}
        return _machine({**stated, **action})
    letters, states = (_names(stated, key) for key in ("letters", "states"))
    if letters is None or states is None:
        raise KrohnError(
            "the file names no letters and states; name a machine to hold it against"
        )
    still = np.tile(np.arange(len(states)), (len(letters), 1))
    machine = Automaton(Semiautomaton(still, letters, states), name="the file's names")
    output = stated.get("output")
    names = _names(output, "names") if isinstance(output, Mapping) else None
    if names is None:
        return machine
    table = np.zeros(len(states), dtype=np.int64)
    return replace(machine, output=Output("states", table, names))


def _machine(stated: object) -> Automaton:
    try:
        return json_format.from_object(stated)
    except KrohnError as error:
        raise KrohnError(f"the file is damaged: of its machine, {error}") from None


def with_names(
    file: ModelFile, machine: Automaton
) -> tuple[ModelFile, tuple[str, ...]]:
    """A file with the names that it lacks, taken from a machine in its order.

    Returns:
        The file, and what is to be known of it.

    Raises:
        KrohnError: If the network has another number of letters or classes.
    """
    stated, shape = dict(file.header["machine"]), file.architecture
    outputs = file.claim.shows is Shows.OUTPUTS
    notes = []
    if "letters" not in stated:
        _check(shape.vocabulary - shape.marks, machine.letters)
        stated["letters"] = list(machine.letters)
        notes.append(BY_ORDER.format("letters"))
    if outputs and "output" not in stated and machine.output is not None:
        _check(shape.outputs, machine.output.names, "outputs")
        stated["output"] = {"names": list(machine.output.names)}
        notes.append(BY_ORDER.format("outputs"))
    if "states" not in stated:
        if not outputs:
            _check(shape.outputs, machine.states, "states")
            notes.append(BY_ORDER.format("states"))
        stated["states"] = list(machine.states)
    return replace(file, header={**file.header, "machine": stated}), tuple(notes)


def saying_outputs(
    file: ModelFile, letters: Sequence[str], classes: Sequence[str]
) -> ModelFile:
    """The network as one that says outputs, whatever its classes are.

    Args:
        file: A network that says classes, of a machine or of another source.
        letters: Their names.
        classes: Theirs.
    """
    machine = {
        "letters": list(letters),
        "states": list(classes),
        "output": {"names": list(classes)},
    }
    header = {key: value for key, value in file.header.items() if key != "source"}
    claim = {**header["claim"], "shows": "outputs"}
    return replace(file, header={**header, "machine": machine, "claim": claim})


def _check(count: int, names: tuple[str, ...], what: str = "letters") -> None:
    if count != len(names):
        raise KrohnError(
            f"the network has {count} {what} without names, the machine {len(names)}"
        )


def _names(holder: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    names = holder.get(key)
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise KrohnError(f"the file is damaged: its machine has no list of {key}")
    return tuple(names)


# State dicts that torch wrote (``.pt``, ``.pth``): read without running any code.


SUFFIXES = (".pt", ".pth")


def is_state_dict(path: object) -> bool:
    """Whether something is the name of a file of torch's; it may hold anything."""
    return isinstance(path, str | Path) and str(path).lower().endswith(SUFFIXES)


def directory_reader(model: object) -> Any:
    """The module of the slice that reads a model in a directory; None for all others."""
    if not isinstance(model, str | Path) or not isdir(model):  # any name at all
        return None
    reader = part("directory")
    return reader if reader is not None and reader.is_export(model) else None


def is_trained(path: str | Path) -> bool:
    """Whether a file holds a trained network: a state dict, or one of `krohn compare`."""
    return is_state_dict(path) or is_trained_network(path)


def read(path: str | Path) -> Mapping[str, object]:
    """The tensors of a file by their names.

    Torch's restricted reader takes tensors and plain values only. A module that was
    pickled whole is code of its own, which would run as it is read: it is refused.

    Raises:
        KrohnError: If it cannot be read, or holds something else.
    """
    import torch  # which is not needed to see what a file is called

    data = io.BytesIO(read_bytes(path, LARGEST_FILE))
    import zipfile

    if not zipfile.is_zipfile(data):  # as torch.save has written since torch 1.6
        raise KrohnError(f"{path} is no file of torch's, or is damaged")
    data.seek(0)
    try:
        tensors = torch.load(data, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise KrohnError(
            f"{path} holds more than tensors, such as a module that was saved whole, and "
            "reading it could run any code: save net.state_dict(), or load it in Python "
            "and give Krohn the module"
        ) from None
    except (RuntimeError, ValueError, EOFError, LookupError, TypeError):
        raise KrohnError(f"{path} is no file of torch's, or is damaged") from None
    if not isinstance(tensors, Mapping):
        raise KrohnError(f"{path} holds {kind_of_value(tensors)}, and no state dict")
    return tensors
