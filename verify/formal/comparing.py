"""The terms of a development for Coq, compared with the model file, number by number.

`python -m krohn.verify.formal.comparing F DIR/network.v` needs the standard library only,
and shares nothing with what wrote the terms: a theorem of Coq is about the terms, and this
program says whether they are those of the file.
"""

import json
import re
import struct
import sys
from ast import literal_eval
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

NUMBERS = r"[-\d;,()\[\]\s]*"
FIELDS = (
    ("hidden_start", "hidden.start"),
    ("hidden_weight", "hidden.weight"),
    ("hidden_bias", "hidden.bias"),
    ("input_weight", "input.weight"),
    ("unembed_weight", "unembed.weight"),
    ("unembed_bias", "unembed.bias"),
)
TENSOR = r"\{{\| unit := (?P<{0}_unit>-?\d+); rows := map spread (?P<{0}>{1}) \|\}}"
NODE = (
    rf"\{{\| vector := spread {NUMBERS}; state := \d+%nat; next := {NUMBERS}%nat \|\}}"
)
FORM = (
    r"\(\*\*[^*]*\*\)\s*"
    r"From Coq Require Import ZArith List\.\s*"
    r"From Krohn Require Import Machine Arithmetic Recurrent RecurrentSound\.\s*"
    r"Import ListNotations\.\s*Open Scope Z_scope\.\s*"
    r"Definition machine_of_file : machine := \{\| start := (?P<start>\d+);\s*"
    rf"moves := (?P<moves>{NUMBERS});\s*shows := (?P<shows>{NUMBERS}) \|\}}%nat\.\s*"
    r"Definition network_of_file : network := \{\|\s*units := (?P<units>\d+)%nat;\s*"
    r"letters := (?P<letters>\d+)%nat;\s*classes := (?P<classes>\d+)%nat;\s*"
    + r";\s*".join(f"{term} := " + TENSOR.format(term, NUMBERS) for term, _ in FIELDS)
    + rf" \|\}}\.\s*Definition nodes : list node := \[\s*({NODE}(;\s*{NODE})*)\]\.\s*"
    r"Theorem network_correct : correct (?P<arithmetic>\w+) network_of_file "
    r"machine_of_file\.\s*"
    r"Proof\. apply \(check_sound _ _ _ nodes\)\. vm_compute\. reflexivity\. Qed\.\s*"
    r"Print Assumptions network_correct\.\s*"
)
ARITHMETIC = {
    "float64": "F64",
    "float32": "F32",
    "float_bf16": "BF16",
    "float16": "F16",
}
SIZES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2}


class Different(Exception):
    """The terms are not those of the file; the message says where."""


def compare(model: bytes, text: str, machine: dict[str, Any] | None = None) -> None:
    """Hold every number of a development against those of a model file.

    Args:
        model: The model file.
        text: The development.
        machine: ``start``, ``transitions`` and ``shows``, if not those of the file.

    Raises:
        Different: If something in it is no part of such a development, or another number.
    """
    found = re.fullmatch(FORM, text)
    if found is None:
        raise Different("the file has another form than Krohn writes")
    tensors, header = _tensors(model)
    if set(tensors) != {name for _, name in FIELDS}:
        raise Different("the model has other tensors")
    for term, name in FIELDS:
        dtype, shape, numbers = tensors[name]
        if dtype != ARITHMETIC.get(found["arithmetic"]):
            raise Different(f"{name} is stored in {dtype}")
        rows = _list(found[term])
        width, unit = shape[-1], int(found[f"{term}_unit"])
        written = [Fraction(x) * Fraction(2) ** unit for r in rows for x in _spread(r, width)]
        if written != list(map(Fraction, numbers)):
            raise Different(f"{name} has other numbers in the file")
    n, letters, classes = (int(found[x]) for x in ("units", "letters", "classes"))
    sizes = (("hidden.weight", [n, n]), ("input.weight", [letters, n]))
    for name, shape in (*sizes, ("unembed.weight", [n, classes])):
        if tensors[name][1] != shape:
            raise Different(f"{name} has another shape in the file")
    told = {"start": int(found["start"])}
    told |= {"transitions": _list(found["moves"]), "shows": _list(found["shows"])}
    if told != (machine or _machine(header)):
        raise Different("the machine is another one than that of the file")


def _list(text: str) -> Any:
    return literal_eval(re.sub(r"\s", "", text).replace(";", ","))


def _spread(row: list[tuple[int, int]], width: int) -> Iterator[int]:
    """The entries of a row of which only those other than 0 are written."""
    left = width
    for zeros, entry in row:
        yield from (0,) * zeros
        yield entry
        left -= zeros + 1
    yield from (0,) * left


def _tensors(data: bytes) -> tuple[dict[str, tuple[str, list[int], list[float]]], Any]:
    """Each tensor of a safetensors file with its type and shape, and Krohn's header."""
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    tensors = {}
    for name, said in header.items():
        if name != "__metadata__":
            low, high = said["data_offsets"]
            numbers = list(_numbers(body[low:high], said["dtype"]))
            tensors[name] = said["dtype"], said["shape"], numbers
    return tensors, json.loads(header["__metadata__"]["krohn"])


def _numbers(data: bytes, dtype: str) -> Iterator[float]:
    count = len(data) // SIZES[dtype]
    if dtype == "BF16":
        halves = struct.unpack(f"<{count}H", data)
        data = struct.pack(f"<{count}I", *(half << 16 for half in halves))
    code = {"F64": "d", "F16": "e"}.get(dtype, "f")
    yield from struct.unpack(f"<{count}{code}", data)


def _machine(header: Any) -> dict[str, Any]:
    said = header["machine"]
    shows = list(range(len(said["states"])))
    if header["claim"].get("shows", "states") == "outputs":
        shows = said["output"]["table"]
    start = said["states"].index(said["start"])
    return {"start": start, "transitions": said["transitions"], "shows": shows}


def main(model: str, development: str) -> int:
    """Compare two files, and say so."""
    try:
        compare(Path(model).read_bytes(), Path(development).read_text())
    except (Different, OSError, ValueError, LookupError, TypeError) as error:
        print(f"{development} is not about {model}: {error}", file=sys.stderr)
        return 2
    print(f"{development} has the numbers and the machine of {model}, and no others")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
