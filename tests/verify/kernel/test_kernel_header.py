"""The kernel proves of no file what another reader would read otherwise, or refuse."""

import json
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pytest
from kernel_files import data_of, evidence_of, status, with_kernel

from krohn.network.modelfile import pack, read
from krohn.program.errors import KrohnError
from krohn.program.strict_json import canonical
from krohn.verify.checker.network import open_model

FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "transformer": ("FlipFlop", {"length": 6}),
    "rnn": ("C3", {"arch": "rnn"}),
    "lstm": ("FlipFlop", {"arch": "lstm"}),
    "gru": ("C2", {"arch": "gru"}),
    "ssm": ("C2", {"arch": "ssm", "length": 6}),
}


@cache
def good(kind: str) -> tuple[bytes, dict[str, Any]]:
    """A file that is proved, and its evidence."""
    name, options = FILES[kind]
    data = data_of(name, **options)
    return data, evidence_of(data)


def changed(kind: str, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another header, in canonical form."""
    data, _ = good(kind)
    size = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + size])
    header = json.loads(outer["__metadata__"]["krohn"])
    del header["digest"]
    change(header)
    outer["__metadata__"] = {"krohn": canonical(header)}
    text = json.dumps(outer).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


def says(data: bytes, kind: str) -> int:
    return status(data, good(kind)[1])


def opens(data: bytes) -> bool:
    """Whether the readers in Python open a file, and see a machine in it."""
    try:
        with NamedTemporaryFile(suffix=".safetensors") as file:
            file.write(data)
            file.flush()
            read(file.name)
        return len(open_model(data).machine.shows) > 0
    except KrohnError:
        return False


def put(*path: Any, new: Any) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        holder: Any = header
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = new

    return change


@pytest.mark.sample(2)
@with_kernel
@pytest.mark.parametrize("kind", FILES)
def test_good_files_are_proved(kind: str) -> None:
    data = changed(kind, lambda header: None)
    assert opens(data)
    assert says(data, kind) == 0


def showing(**output: Any) -> Callable[[dict[str, Any]], None]:
    """Let a machine show outputs, which are its states if nothing else is said."""

    def change(header: dict[str, Any]) -> None:
        usual = {"on": "states", "names": ["x", "y", "z"], "table": [0, 1, 2]}
        header["machine"]["output"] = {**usual, **output}
        header["claim"]["shows"] = "outputs"

    return change


@pytest.mark.slow
@with_kernel
def test_outputs_are_those_of_states() -> None:
    assert says(changed("rnn", showing()), "rnn") == 0
    for table in ([1, 0, 2], [0, 1, 1], [0, 0, 0]):
        other = changed("rnn", showing(table=table))
        assert opens(other)
        assert says(other, "rnn") == 1


MEANINGS = {
    **{f"version {v}": ("rnn", put("version", new=v)) for v in (0, 8, 1.0, "1", None)},
    "another format": ("rnn", put("format", new="krohn-modem")),
    **{
        key: ("transformer", put(key, new={}))
        for key in ("source", "stored", "tokenizer", "gain", "read as", "positions")
    },
    **{
        f"machine.{key}": ("transformer", put("machine", key, new=[]))
        for key in ("observe", "action", "order", "final")
    },
    **{
        f"architecture.{key}": ("transformer", put("architecture", key, new={}))
        for key in ("disguise", "masks", "norm", "scale", "entries", "tied", "bos")
    },
    **{
        f"architecture.{key} of an RNN": ("rnn", put("architecture", key, new=1))
        for key in ("rank", "ranks", "entries", "random", "embedding", "activation")
    },
    **{
        f"architecture.{key} of gates": ("lstm", put("architecture", key, new=1))
        for key in ("layers", "bidirectional", "proj_size", "activation", "embedding")
    },
    "another kind of gates": ("lstm", put("architecture", "kind", new="gru")),
    "an LSTM with a longest word": ("lstm", put("claim", "length", new=5)),
    **{
        f"block.{key}": (
            "transformer",
            put("architecture", "blocks", 0, key, new=new),
        )
        for key, new in (
            ("attention", {"kind": "linear"}),
            ("activation", [[["sine", 1]]]),
            ("causal", [False]),
            ("sine", [1]),
            ("norm", "layer"),
            ("scale", 2),
        )
    },
    **{
        f"claim.{key}": ("transformer", put("claim", key, new=new))
        for key, new in (
            ("kind", "within"),
            ("error", 0.5),
            ("tolerance", 0.5),
            ("shows", "transitions"),
            ("shortest", 3),
            ("start", 0),
            ("dtype", "float64"),
            ("length", 0),
            ("length", None),
        )
    },
    **{
        f"architecture.{key} of a state space model": (
            "ssm",
            put("architecture", *path, new=new),
        )
        for key, path, new in (
            ("norm", ("norm",), "layer"),
            ("selective", ("selective",), 0),
            ("layers", ("layers",), []),
            ("outputs", ("outputs",), 3),
            ("kind of a layer", ("layers", 0, "kind"), "dense"),
            ("symbols", ("layers", 0, "symbols"), 3),
            ("decode", ("layers", 0, "decode"), [0]),
            ("coordinates", ("layers", 0, "coordinates"), 2),
        )
    },
    **{
        f"a state space model of {longest} letters": (
            "ssm",
            put("claim", "length", new=longest),
        )
        for longest in (0, -1, "6")
    },
    "an RNN with a longest word": ("rnn", put("claim", "length", new=5)),
    "machine of another format": ("rnn", put("machine", "format", new="dot")),
    "machine of version 3": ("rnn", put("machine", "version", new=3)),
    "strict is a number": ("transformer", put("architecture", "strict", new=0)),
    **{
        f"outputs {said}": ("rnn", showing(**output))
        for said, output in (
            ("on transitions", {"on": "transitions"}),
            ("of transitions", {"on": "transitions", "table": [[0, 1, 2]] * 3}),
            ("elsewhere", {"on": "letters"}),
            ("with more", {"more": 1}),
            ("without names", {"names": []}),
            ("of too few names", {"names": ["x", "y"]}),
            ("of one name", {"names": ["x", "x", "x"]}),
            ("of too few states", {"table": [0, 1]}),
        )
    },
    "no outputs": ("rnn", put("claim", "shows", new="outputs")),
    "letters of one name": ("rnn", put("machine", "letters", new=["x", "x", "x"])),
    "states of one name": ("rnn", put("machine", "states", new=["x", "x", "x"])),
    "too few letters": ("rnn", put("machine", "letters", new=["x"])),
}


@pytest.mark.sample(3)
@with_kernel
@pytest.mark.parametrize("name", MEANINGS)
def test_what_it_does_not_know_is_refused(name: str) -> None:
    kind, change = MEANINGS[name]
    data = changed(kind, change)
    assert not opens(data)
    assert says(data, kind) == 2


@with_kernel
def test_metadata_has_one_key() -> None:
    data, evidence = good("rnn")
    size = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + size])
    outer["__metadata__"]["other"] = outer["__metadata__"]["krohn"]
    text = json.dumps(outer).encode()
    more = struct.pack("<Q", len(text)) + text + data[8 + size :]
    assert status(more, evidence) == 2


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize("kind", FILES)
def test_subnormal_numbers_are_refused(kind: str, tmp_path: Path) -> None:
    """Assumption A9 speaks of networks that have none."""
    data, evidence = good(kind)
    path = tmp_path / "m.safetensors"
    path.write_bytes(data)
    file = read(path)
    for number, code in ((file.precision.smallest / 2, 2), (-0.0, 0)):
        tensors = dict(file.tensors)
        for name, tensor in tensors.items():
            tensors[name] = np.where(tensor == 0, number, tensor)
        mutant = pack(file.header, tensors)
        assert opens(mutant) == (code == 0)
        assert status(mutant, evidence) == code
