"""A page that runs the network of a file in the browser, beside the Program that it states.

Everything stands in the page: the tensors, the Program and the script, which the browser
runs because the page names its hash. Nothing is fetched.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from krohn.algebra.errors import KrohnError
from krohn.intervention import parse_program
from krohn.network.meaning.net import runs_of
from krohn.network.modelfile import ModelFile
from krohn.network.stated_program import meanings_of
from krohn.page.rendering import check_suffix, render_page
from krohn.page.verification_page import margin
from krohn.program.architectures.transformer import SOFTMAX, Block, Transformer
from krohn.program.attention import Sight
from krohn.program.claim import Sense
from krohn.program.functions import Table
from krohn.program.intervention import letter_tables, rows_of_letters
from krohn.program.meanings import NAMED, Meaning
from krohn.program.operations.base import Operation
from krohn.program.operations.map import Map
from krohn.program.statement import Channel, Statement
from krohn.program.word_texts import write_letter
from krohn.program.writing import atomic_write
from krohn.verify.proof import prove

LARGEST = 2**20
"""Bytes of tensors that a page may hold."""
SHOWN = 8
"""Letters of the word that is shown first."""
UNITS = ("relu", "sine")
OPERATIONS = (
    *("token", "position", "table", "select", "sum", "prefix-sum", "marked-sum"),
    *("block-sum", "shift", "shift-by", "latest", "earliest", "sibling-latest"),
    *("latest-match", "at"),
)
"""The operations that the script knows."""


def write_network_page(file: ModelFile, title: str, path: str | Path) -> None:
    """Write a page that runs the network of a file on words that are typed.

    It shows the answers, the variables in the residual stream beside what the Program
    says, what a change of one leads to and what is predicted, and what heads attend to.

    Args:
        file: A causal Transformer of states, outputs or classes, with its Program.
        title: What stands above, as the name of the file.
        path: A name that ends in ``.html``.

    Raises:
        KrohnError: If the network is of another kind, or its tensors take more than
            `LARGEST` bytes; or if the page cannot be written.
    """
    path = Path(path)
    check_suffix(path)
    data = page_data(file)
    proof = prove(file, None)
    script = files("krohn.page").joinpath("network.js").read_text("utf-8")
    facts = {
        "file": title,
        "lines": file.claim.lines(),
        "dtype": file.claim.dtype,
        "verdict": str(proof.proved) if proof.proved else f"not proved: {proof.reason}",
        "margin": margin(proof.evidence) if proof.proved else None,
        "data": Markup(_json_in_html(data)),
        "script": Markup(script),
        "hash": f"sha256-{_hash(script)}",
    }
    atomic_write(path, render_page("network.html", facts).encode("utf-8"))


def page_data(file: ModelFile) -> dict[str, Any]:
    """The network and the Program of a file, as the script of the page reads them.

    Raises:
        KrohnError: If the script does not run such a network.
    """
    shape = _transformer(file)
    program = parse_program(file)
    meanings = meanings_of(file, program)
    tensors = {name: _stored(file, value) for name, value in file.tensors.items()}
    if (size := sum(array.nbytes for array in tensors.values())) > LARGEST:
        raise KrohnError(
            f"the tensors take {size / 2**20:.1f} MiB, and a page holds 1 MiB; a network "
            "for shorter words is smaller"
        )
    return {
        "letters": file.claim.letters,
        "written": [write_letter(letter) for letter in file.claim.letters],
        "classes": file.claim.answers,
        "length": file.claim.length,
        "width": shape.d_model,
        "bytes": next(iter(tensors.values())).itemsize,
        "blocks": [
            {"heads": block.heads, "units": runs_of(block)} for block in shape.blocks
        ],
        "tensors": {
            name: {"shape": array.shape, "bytes": base64.b64encode(array).decode()}
            for name, array in tensors.items()
        },
        "channels": [
            _channel(program, each, _says(program, each, meanings[each.name]))
            for each in program.channels.values()
        ],
        "names": {name: each.short for name, each in meanings.items()},
        "named": {name: NAMED[each.named_by] for name, each in meanings.items()},
        "outputs": program.outputs,
        "decode": [[row, answer] for row, answer in program.decode.items()],
        "first": _first_word(file),
    }


def _says(program: Statement, channel: Channel, meaning: Meaning) -> str:
    """How a variable is computed, and whether the network's answer is in it."""
    return meaning.says + "; the answer is read from it" * (
        channel.name in program.outputs
    )


def _transformer(file: ModelFile) -> Transformer:
    """The architecture, if the script runs it."""
    shape = file.architecture
    if not isinstance(shape, Transformer) or "program" not in file.header:
        raise KrohnError(
            "a page runs Transformers that state a Program; draw others as .svg, .png or "
            ".pdf"
        )
    if file.claim.sense is not Sense.EXACT:
        raise KrohnError(
            "a page runs networks that answer with states, outputs or classes, and this "
            f"one says {file.claim.are}; draw it as .svg, .png or .pdf"
        )
    if shape.disguise is not None or shape.masks is not None:
        raise KrohnError("a page does not run disguised or pruned networks")
    if not all(map(_runs, shape.blocks)):
        raise KrohnError(
            "a page runs heads by softmax that see no later letter, and units that are "
            "ReLUs or sines"
        )
    return shape


def _runs(block: Block) -> bool:
    units = {name for layer in runs_of(block) for name, _ in layer}
    plain = block.attention == SOFTMAX and units <= {*UNITS}
    return plain and all(sight is Sight.CAUSAL for sight in block.sights)


def _stored(file: ModelFile, tensor: Any) -> Any:
    """A tensor in a format of the browser, which holds the same numbers."""
    wide = np.float64 if file.precision.name == "float64" else np.float32
    return np.ascontiguousarray(tensor, dtype=wide)


def _channel(program: Statement, channel: Channel, says: str) -> dict[str, Any]:
    """A channel as the script reads it."""
    if channel.op not in OPERATIONS:
        raise KrohnError(f"a page does not run the operation {channel.op!r}")
    place, operation = channel.stored, channel.operation
    if place is not None and place.code not in ("integer", "one-hot"):
        raise KrohnError(f"a page does not show variables stored as a {place.code}")
    letters = letter_tables(program, channel.name)
    several = len(letters) > 1
    return {
        "name": channel.name,
        "op": channel.op,
        "says": says,
        "reads": channel.inputs,
        "bos": int(channel.bos),
        "domain": channel.later.tolist(),
        "born": channel.born,
        "dims": None if place is None else [place.start, place.stop],
        "code": None if place is None else place.code,
        "head": None if place is None else place.head,
        "letters": letters,
        "known": sorted(rows_of_letters(program, letters)) if several else None,
        **_parameters(operation),
    }


def _parameters(operation: Operation) -> Mapping[str, Any]:
    """The numbers of an operation; of a table its rows, each with its value."""
    if isinstance(operation, Map):
        table = operation.function
        if not isinstance(table, Table):
            return {}
        return {"table": np.column_stack([table.rows, table.values]).tolist()}
    numbers = ("by", "level", "size", "values")
    return {n: getattr(operation, n) for n in numbers if hasattr(operation, n)}


def _first_word(file: ModelFile) -> list[int]:
    """All letters in turn, each at another place of the second turn."""
    many = len(file.claim.letters)
    places = range(min(file.claim.length or SHOWN, SHOWN))
    return [(i + i // many) % many for i in places]


def _json_in_html(data: Mapping[str, Any]) -> str:
    """JSON that ends no element, whatever the names are."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
