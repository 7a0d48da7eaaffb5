"""The terms of a development for Coq, compared with the model file, number by number.

`python -m krohn.instruments.formal.comparing F DIR/theorem.v` needs the standard library
only, and shares nothing with what wrote the terms. Coq proves a theorem about the terms;
this program says whether they are those of the file, and whether anything else is there.
"""

import json
import re
import struct
import sys
from ast import literal_eval
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

# <name> stands for letters, digits, brackets and separators, <<evidence>> for anything
# without a full stop, a star or a quotation mark: so no further command of Coq fits in,
# and nothing can be made a comment.
NETWORK = """
From Coq Require Import ZArith List.
From Krohn Require Import Machine Arithmetic Recurrent RecurrentSound.
Import ListNotations. Open Scope Z_scope.
Definition machine_of_file : machine :=
  {| start := <start>; moves := <moves>; shows := <shows> |}%nat.
Definition network_of_file : network := {|
  units := <units>%nat; letters := <letters>%nat; classes := <classes>%nat;
  hidden_start := {| unit := <u0>; rows := map spread <hidden_start> |};
  hidden_weight := {| unit := <u1>; rows := map spread <hidden_weight> |};
  hidden_bias := {| unit := <u2>; rows := map spread <hidden_bias> |};
  input_weight := {| unit := <u3>; rows := map spread <input_weight> |};
  unembed_weight := {| unit := <u4>; rows := map spread <unembed_weight> |};
  unembed_bias := {| unit := <u5>; rows := map spread <unembed_bias> |} |}.
Definition nodes : list node := <<evidence>>.
Theorem network_correct : correct <arithmetic> network_of_file machine_of_file.
Proof. apply (check_sound _ _ _ nodes). vm_compute. reflexivity. Qed.
Print Assumptions network_correct.
"""
PROGRAM = """
From Coq Require Import List.
From Krohn Require Import Machine Program Invariant InvariantSound.
Import ListNotations.
Definition machine_of_file : machine :=
  {| start := <start>; moves := <moves>; shows := <shows> |}%nat.
Definition program_of_file : program := [ <operations> ].
Definition decode_of_file : list (list nat * nat) := <decode>.
Definition invariant : part := <<evidence>>.
Theorem program_correct :
  computes machine_of_file program_of_file <outputs> decode_of_file <length>.
Proof. apply (check_sound _ _ _ invariant). vm_compute. reflexivity. Qed.
Print Assumptions program_correct.
"""
TRANSFORMER = """
From Coq Require Import ZArith List.
From Krohn Require Import Machine Arithmetic Recurrent Program Invariant InvariantSound
  Rounding Closer Softmax Mean Transformer Domains Lists Bounds Affine TransformerCheck
  TablesSound QuickSound TransformerSound.
Import ListNotations. Open Scope Z_scope.
Definition machine_of_file : machine :=
  {| start := <start>; moves := <moves>; shows := <shows> |}%nat.
Definition network_of_file : transformer := {|
  width := <width>%nat; answers := <answers>%nat;
  embed_token := tensor_of <embed_token>; embed_position := tensor_of <embed_position>;
  blocks := map block_of <blocks>;
  unembed := tensor_of <unembed>; answer_bias := tensor_of <answer_bias> |}.
Open Scope nat_scope.
Definition program_of_file : program := <<program>>.
Definition outputs_of_file : list nat := <<outputs>>.
Definition decode_of_file : list (list nat * nat) := <<decode>>.
Definition invariant : part := <<invariant>>.
Definition layout : evidence := <<layout>>.
Theorem network_correct :
  Transformer.correct <arithmetic> network_of_file machine_of_file <length>.
Proof.
  apply (TransformerSound.check_sound _ _ _ _
    program_of_file outputs_of_file decode_of_file layout).
  - apply (InvariantSound.check_sound _ _ _ invariant). vm_cast_no_check (eq_refl true).
  - vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions network_correct.
"""
TENSORS = (
    *("hidden_start", "hidden_weight", "hidden_bias"),
    *("input_weight", "unembed_weight", "unembed_bias"),
)
FORM = "the development has another form than Krohn writes"
ARITHMETIC = {
    "float64": "F64",
    "float32": "F32",
    "float_bf16": "BF16",
    "float16": "F16",
}
SIZES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2}
FIELDS = {
    "shift": ("Shift", ("source",), "by"),
    "latest": ("Latest", ("source", "where"), None),
    "earliest": ("Earliest", ("source", "where"), None),
    "latest-match": ("LatestMatch", ("source", "key", "query"), None),
    "sibling-latest": ("SiblingLatest", ("source", "where"), "level"),
    "prefix-sum": ("PrefixSum", ("source",), None),
    "marked-sum": ("MarkedSum", ("source", "where"), None),
}
"""Operations: their terms, the fields that name channels, and one that is a number."""

DAMAGE = (ValueError, LookupError, TypeError, SyntaxError, struct.error)
"""Errors in which reading a damaged file may end."""
Tensors = Mapping[str, tuple[str, list[int], list[float]]]
Written = dict[str, tuple[list[int], list[Any]]]
"""Tensors as they are written: the shape, and units with rows."""


class Different(Exception):
    """The terms are not those of the file; the message says where."""


def compare(model: bytes, text: str) -> str:
    """Hold every number of a development against those of a model file.

    Args:
        model: The model file.
        text: The development.

    Returns:
        What the theorem is about: its numbers, or its Program alone.

    Raises:
        Different: If it has another form, or says something else than the file.
    """
    tensors, header = _open_file(model)
    recurrent = "blocks" not in header["architecture"]
    whole = "network_of_file" in text
    form = NETWORK if recurrent else TRANSFORMER if whole else PROGRAM
    parts = _read(form, text)
    if _read_machine(parts) != _machine(header):
        raise Different("the machine is another one than that of the file")
    if recurrent:
        _compare_tensors(parts, tensors)
    elif whole:
        _compare_transformer(parts, tensors, header)
    elif _read_program(parts) != _program(header):
        raise Different("the Program is another one than that of the file")
    return "numbers" if recurrent or whole else "Program alone"


def _read(form: str, text: str) -> dict[str, str]:
    """The texts that stand for the names of a form.

    Raises:
        Different: If the text has another form; blanks between words may be others.
    """
    remark, end, rest = " ".join(text.split()).partition(" *)")
    if not end or not re.fullmatch(r"\(\*\*[^*\"]*", remark):
        raise Different(FORM)
    literals = [" ".join(x.split()) for x in re.split(r"<<?\w+>?>", form)]
    names, parts, at = (
        re.findall(r"(<?)<(\w+)>", form),
        dict[str, str](),
        len(literals[0]) + 1,
    )
    if not rest.startswith(" " + literals[0]):
        raise Different(FORM)
    for (evidence, name), literal in zip(names, literals[1:], strict=True):
        end_of = rest.find(literal, at) if literal else len(rest)
        part = rest[at : end_of if end_of >= 0 else at]
        allowed = r"[^.*\"]*" if evidence else r"[-\w;,()\[\]\s]*"
        if end_of < 0 or not re.fullmatch(allowed, part):
            raise Different(FORM)
        parts[name], at = part, end_of + len(literal)
    if rest[at:]:
        raise Different(FORM)
    return parts


def _list(text: str) -> Any:
    return literal_eval(re.sub(r"\s", "", text).replace(";", ","))


def _read_machine(told: Mapping[str, str]) -> tuple[Any, ...]:
    return tuple(_list(told[name]) for name in ("start", "moves", "shows"))


def _machine(header: Any) -> tuple[Any, ...]:
    machine = header["machine"]
    shows = list(range(len(machine["states"])))
    if header["claim"].get("shows", "states") == "outputs":
        shows = machine["output"]["table"]
    moves, states = machine["transitions"], range(len(machine["states"]))
    whole = len(shows) == len(states) and len(moves) == len(machine["letters"])
    if not whole or any(len(m) != len(states) or set(m) - set(states) for m in moves):
        raise Different("the machine of the file is not complete")  # and shows nothing
    return machine["states"].index(machine["start"]), moves, shows


def _compare_tensors(told: Mapping[str, str], tensors: Tensors) -> None:
    names = [name.replace("_", ".") for name in TENSORS]
    if set(tensors) != set(names):
        raise Different("the model has other tensors")
    units, letters, classes = (int(told[x]) for x in ("units", "letters", "classes"))
    if len(_list(told["moves"])) != letters:
        raise Different("the machine has other letters than the network")
    shapes = ([units], [units, units], [units], [letters, units], [units, classes])
    for i, (name, shape) in enumerate(zip(names, (*shapes, [classes]), strict=True)):
        dtype, own, numbers = tensors[name]
        if dtype != ARITHMETIC.get(told["arithmetic"].strip()):
            raise Different(f"{name} is stored in {dtype}")
        if own != shape:
            raise Different(f"{name} has another shape in the file")
        step = Fraction(2) ** int(told[f"u{i}"])
        rows = _list(told[TENSORS[i]])
        if [x * step for x in _entries(rows, shape)] != list(map(Fraction, numbers)):
            raise Different(f"{name} has other numbers in the file")


def _compare_transformer(
    told: Mapping[str, str], tensors: Tensors, header: Any
) -> None:
    shape, length = header["architecture"], header["claim"]["length"]
    plain = {"heads", "d_qk", "d_v", "mlp"}
    others = {key for block in shape["blocks"] for key in set(block) ^ plain}
    if others or "disguise" in shape:
        named = ", ".join(map(repr, sorted(others))) or "a disguise"
        raise Different(f"the model is another network: its blocks state {named}")
    if int(told["length"]) != length:
        raise Different("the claim is another one than that of the file")
    written_tensors = _written_tensors(
        told, shape, len(header["machine"]["transitions"])
    )
    if set(written_tensors) != set(tensors):
        raise Different("the model has other tensors")
    dtype = ARITHMETIC.get(told["arithmetic"].strip())
    for name, (own, parts) in written_tensors.items():
        stored, size, numbers = tensors[name]
        if stored != dtype or size != own:
            raise Different(f"{name} has another shape or format in the file")
        each = [(Fraction(2) ** unit, _entries(rows, own)) for unit, rows in parts]
        stated_numbers = [x * step for step, entries in each for x in entries]
        if stated_numbers != list(map(Fraction, numbers)):
            raise Different(f"{name} has other numbers in the file")


def _written_tensors(told: Mapping[str, str], shape: Any, letters: int) -> Written:
    """The tensors of a Transformer, as they are written for Coq."""
    d, classes = int(told["width"]), int(told["answers"])
    tensors = {
        "embed.token": ([letters + 1, d], [_list(told["embed_token"])]),
        "embed.position": ([shape["positions"], d], [_list(told["embed_position"])]),
        "unembed.weight": ([d, classes], [_list(told["unembed"])]),
        "unembed.bias": ([classes], [_list(told["answer_bias"])]),
    }
    blocks = _list(told["blocks"])
    if len(blocks) != len(shape["blocks"]):
        raise Different("the model has another number of blocks")
    for b, block in enumerate(blocks):
        tensors |= _written_block(block, f"blocks.{b}.", d)
        if shape.get("strict", False):
            if block[-1] != [1] * d:
                raise Different(f"block {b} has no residual mask in the file")
            del tensors[f"blocks.{b}.mlp.residual"]
    return tensors


def _written_block(block: Any, at: str, d: int) -> Written:
    heads, k, v, layers, mask = block
    if not set(mask) <= {0, 1}:
        raise Different("a residual mask has other entries than 0 and 1")
    tensors: Written = {f"{at}mlp.residual": ([d], [(0, [[(0, x) for x in mask]])])}
    shapes = {"query": [d, k], "key": [d, k], "value": [d, v], "out": [v, d]}
    for i, (name, own) in enumerate(shapes.items() if heads else ()):
        parts = [head[i] for head in heads]
        tensors[f"{at}attention.{name}"] = ([len(heads), *own], parts)
    width = d
    for j, (units, weight, bias) in enumerate(layers):
        tensors[f"{at}mlp.{j}.weight"] = ([width, units], [weight])
        tensors[f"{at}mlp.{j}.bias"] = ([units], [bias])
        width = units
    return tensors


def _entries(rows: list[list[tuple[int, int]]], shape: list[int]) -> list[int]:
    """The entries of a vector, or of a matrix, the last two axes of a shape.

    Raises:
        Different: If they are not so many rows, or one is too long: Coq leaves out what
            is beyond a row, and takes rows that are missing for zeros.
    """
    if len(rows) != [1, *shape][-2]:
        raise Different("a tensor is written with another number of rows")
    return [x for row in rows for x in _spread(row, shape[-1])]


def _spread(row: list[tuple[int, int]], width: int) -> Iterator[int]:
    """The entries of a row of which only those other than 0 are written."""
    for zeros, entry in row:
        width -= zeros + 1
        if zeros < 0 or width < 0:
            raise Different("a row of a tensor is too long")
        yield from (0,) * zeros
        yield entry
    yield from (0,) * width


def _read_program(told: Mapping[str, str]) -> tuple[Any, ...]:
    operations = []
    for line in _apart(told["operations"]):
        name, *arguments = _apart(line, " ")
        operations.append((name, *map(_list, arguments)))
    others = (_list(told[name]) for name in ("outputs", "decode", "length"))
    return operations, *others


def _apart(text: str, separator: str = ";") -> list[str]:
    """The parts of a text between separators that stand outside of brackets."""
    parts, depth = [""], 0
    for letter in re.sub(r"\s+", " ", text).strip():
        depth += (letter in "[(") - (letter in "])")
        if letter == separator and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _program(header: Any) -> tuple[Any, ...]:
    program = header["program"]
    place = {c["name"]: i for i, c in enumerate(program["channels"])}
    operations = [_operation(c, place) for c in program["channels"]]
    decode = [(list(values), c) for values, c in program["decode"]]
    outputs = [place[name] for name in program["outputs"]]
    return operations, outputs, decode, header["claim"]["length"]


def _operation(channel: Any, place: Mapping[str, int]) -> tuple[Any, ...]:
    kind = channel["op"]
    if kind == "token":
        return ("Token",)
    if kind == "position":
        return "Position", channel["values"]
    if kind == "map":
        read = [place[name] for name in channel["inputs"]]
        if channel["function"] == "table":
            return "Table", read, [(row[:-1], row[-1]) for row in channel["rows"]]
        if channel["function"] == "select":
            return "Select", read[0], read[1:]
        return channel["function"].title(), read
    term, fields, number = FIELDS[kind]
    operation = (term, *(place[channel[field]] for field in fields))
    return operation if number is None else (*operation, channel[number])


def _open_file(data: bytes) -> tuple[Tensors, Any]:
    """Each tensor of a safetensors file with its type and shape, and Krohn's header."""
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    krohn_header = json.loads(header.pop("__metadata__")["krohn"])
    tensors = {}
    for name, tensor in header.items():
        low, high = tensor["data_offsets"]
        numbers = list(_numbers(body[low:high], tensor["dtype"]))
        tensors[name] = tensor["dtype"], tensor["shape"], numbers
    return tensors, krohn_header


def _numbers(data: bytes, dtype: str) -> Iterator[float]:
    count = len(data) // SIZES[dtype]
    if dtype == "BF16":
        halves = struct.unpack(f"<{count}H", data)
        data = struct.pack(f"<{count}I", *(half << 16 for half in halves))
    code = {"F64": "d", "F16": "e"}.get(dtype, "f")
    yield from struct.unpack(f"<{count}{code}", data)


def main(model: str, development: str) -> int:
    """Compare two files, and say so."""
    try:
        about = compare(Path(model).read_bytes(), Path(development).read_text())
    except (Different, OSError, *DAMAGE) as error:
        print(f"{development} is not about {model}: {error}", file=sys.stderr)
        return 2
    print(f"{development} is about {model}, its {about}, and says nothing else")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
