"""Reading the model file and the machine: the first lines of the trusted base."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, deserialize

from krohn.program import strict_json
from krohn.program.architecture import Architecture
from krohn.program.claim import LABELS, Claim, Shows, check_digest
from krohn.program.domains import IntArray
from krohn.program.errors import Refused, demand, refuse_unknown
from krohn.program.strict_json import whole
from krohn.verify.checker.arithmetic import FORMATS, Format

if TYPE_CHECKING:
    from krohn.verify.checker.residual_stream import Disguise, Norms

FloatArray = npt.NDArray[np.float64]
StrArray = npt.NDArray[np.str_]

DAMAGE = (
    SafetensorError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""Errors in which reading a damaged file may end."""
LARGEST_FILE = 2**34
"""The most bytes of a model file, and of its evidence."""


class Machine(NamedTuple):
    """A deterministic machine; that of a file's header is complete.

    A word is possible if none of its letters leads to −1. Of others nothing is said.

    Attributes:
        start: The start state.
        transitions: ``(letters, states)``: the state that a letter leads to; −1 where it
            cannot come.
        shows: ``(states,)``: the logit that must be the largest in each state.
    """

    start: int
    transitions: IntArray
    shows: IntArray


class Read(dict[str, Any]):
    """An object of a header, which knows the keys of it that a rule has read.

    Whoever goes through all of them has read none: that refuses a file, and lets none in.
    """

    def __init__(self, stated: Any, labels: tuple[str, ...] = ()) -> None:
        demand(type(stated) is dict, "the file does not say what it is about")
        super().__init__({key: _track_reads(value) for key, value in stated.items()})
        self._labels, self._read = labels, set(labels)

    def __getitem__(self, key: str) -> Any:
        self._read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """What stands under a key; if there is none, the default."""
        self._read.add(key)
        return super().get(key, default)

    def left(self) -> list[str]:
        """The keys that no rule has read, here and in the objects inside."""
        inside = [
            part
            for key, value in self.items()
            if key in self._read and key not in self._labels
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, Read)
        ]
        own = self.keys() - self._read
        return sorted({*own, *(key for part in inside for key in part.left())})


def _track_reads(value: Any) -> Any:
    """A value whose objects know what is read of them."""
    if type(value) is dict:
        return Read(value)
    objects = type(value) is list and {*map(type, value)} == {dict}
    return [Read(part) for part in value] if objects else value


class Files(Protocol):
    """The files of a model that is a directory."""

    @property
    def digest(self) -> str:
        """The digest by which evidence names them."""


A = TypeVar("A", bound=Architecture)


@dataclass(frozen=True, eq=False)
class Model:
    """A model file: its format, its tensors as float64, and what its header says.

    What is read of the stream passes the LayerNorms ``norms``, if there are any. The last
    ``rivals`` of the logits mean no class. Texts are read by the files ``tokenizer``, if
    it has one. What runs is a ``disguise`` of the network, if there is one. Queries, and
    scores that are stored, are ``gain`` times those of the tensors, a power of two.
    """

    format: Format
    tensors: dict[str, FloatArray]
    header: dict[str, Any]
    norms: "Norms | None" = None
    rivals: int = 0
    tokenizer: Mapping[str, Any] | None = None
    disguise: "Disguise | None" = None
    gain: float = 1.0

    @cached_property
    def claim(self) -> Claim:
        """What a proof of it is about."""
        return Claim.of(self.header, self.tokenizer)

    @property
    def length(self) -> int | None:
        """The longest input that the file makes a claim about; None for every length."""
        return self.claim.length

    @cached_property
    def source(self) -> Read:
        """The other source that it is about.

        Raises:
            Refused: If it is about a machine.
        """
        demand(not self.claim.of_machine, "the file is about a machine")
        return Read(self.header["source"], ("kind", *LABELS))

    @cached_property
    def program(self) -> Read:
        """The Program that it states.

        Raises:
            Refused: If it states none.
        """
        stated = "program" in self.header
        demand(stated, "the file has no Program, and a proof needs one")
        return Read(self.header["program"])

    def network(self, kind: type[A]) -> A:
        """Its architecture, whose tensors it has, and no others.

        Raises:
            Refused: If the file is of another kind, or has other tensors.
        """
        architecture = self.claim.architecture
        demand(isinstance(architecture, kind), "the network is of another kind")
        assert isinstance(architecture, kind)
        shapes = {name: tensor.shape for name, tensor in self.tensors.items()}
        demand(shapes == architecture.shapes, "the tensors are not as stated")
        return architecture

    @property
    def machine(self) -> Machine:
        """The machine that the header names.

        Raises:
            Refused: If it is no complete deterministic machine.
        """
        stated, claim = self.header["machine"], self.claim
        transitions = whole(stated["transitions"], 2)
        letters, states = len(names(stated, "letters")), len(names(stated, "states"))
        demand(transitions.shape == (letters, states), "the machine is not complete")
        demand(
            letters and states and np.all(transitions < states),
            "a transition leads nowhere",
        )
        on, table = _outputs(stated)
        match claim.shows:
            case Shows.STATES:
                shows = np.arange(states)
            case Shows.OUTPUTS:
                demand(on == "states", "the outputs are not those of states")
                shows = table
            case other:
                refuse_unknown(other, "the checker")
        return Machine(stated["states"].index(stated["start"]), transitions, shows)


def read(data: bytes) -> Model:
    """A model file from its bytes.

    Raises:
        Refused: If it is damaged, or has a number that is not finite or is subnormal.
    """
    try:
        entries = deserialize(data)  # type: ignore[no-untyped-call]
        size = int.from_bytes(data[:8], "little")
        text = strict_json.read(data[8 : 8 + size])["__metadata__"]["krohn"]
        header = strict_json.read(text)
        canonical = strict_json.canonical(header)
        form = FORMATS[header["architecture"]["dtype"]]
        check_digest(header)
    except Refused:
        raise
    except DAMAGE as error:
        raise Refused(f"the model file is damaged: {str(error)[:200]}") from None
    demand(text == canonical, "the header is not canonical: readers may differ on it")
    demand(header.get("format") == "krohn-model", "this is no model of Krohn")
    version = header.get("version")
    known = type(version) is int and 1 <= version <= 7
    demand(known, "the model has an unknown version")
    tensors = tensors_of(entries, form)
    if "stored" in header:
        tensors = _whole(tensors, header, form)
    return Model(form, tensors, header)


def _whole(
    tensors: dict[str, FloatArray], header: dict[str, Any], form: Format
) -> dict[str, FloatArray]:
    """The tensors of a compact file; refused if they are not what it states."""
    from krohn.program.stored_tensors import expand_tensors  # no other file rests on it

    try:
        all_tensors = expand_tensors(
            header["stored"], tensors, header["architecture"]["dtype"]
        )
    except DAMAGE as error:
        raise Refused(f"the model file is damaged: {str(error)[:200]}") from None
    for name in all_tensors.keys() - tensors.keys():
        check_numbers(name, all_tensors[name], form)
    return all_tensors


def tensors_of(entries: Any, form: Format) -> dict[str, FloatArray]:
    """The tensors of a file; refused if one is of another format, or is damaged."""
    tensors = {}
    for name, entry in entries:
        code = (
            "I32" if name.endswith((".offsets", ".columns", ".places")) else form.code
        )
        demand(entry["dtype"] == code, f"tensor {name!r} has another format")
        values = _decode_numbers(bytes(entry["data"]), code).reshape(entry["shape"])
        check_numbers(name, values, form)
        tensors[name] = values
    return tensors


def machine_of(said: Mapping[str, Any], letters: int, least: int = 0) -> Machine:
    """A machine that is stated without names; refused if it is none.

    A letter may lead nowhere if ``least`` is -1.
    """
    transitions = whole(said["transitions"], 2, least)
    start, states = int(whole(said["start"], 0)), transitions.shape[1]
    fits = len(transitions) == letters and start < states
    demand(fits and np.all(transitions < states), "what is stated is no machine")
    return Machine(start, transitions, np.arange(states))


def _outputs(said: Any) -> tuple[str, IntArray]:
    """Whether outputs are on states or moves, and their table; nothing if there are none.

    Raises:
        Refused: If a state or a transition has none, or one without a name.
    """
    output = said.get("output")
    if output is None:
        return "", np.zeros(0, np.int64)
    on, each = output["on"], (len(said["letters"]), len(said["states"]))
    demand(on in ("states", "transitions"), "outputs must lie on states or transitions")
    axes = 1 if on == "states" else 2
    table, called = whole(output["table"], axes), names(output, "names")
    right = table.shape == each[2 - axes :] and np.all(table < len(called))
    demand(right, "bad outputs")
    return on, table


def names(said: Any, what: str) -> list[str]:
    """Names that a header lists: one that is there twice would say two things.

    Raises:
        Refused: If they are no list of different strings.
    """
    listed = said.get(what)
    strings = type(listed) is list and all(type(name) is str for name in listed)
    demand(strings, f"the {what} have no names")
    demand(len(set(listed)) == len(listed), f"two {what} have the same name")
    return list(listed)


def check_numbers(name: str, values: FloatArray, form: Format) -> None:
    """Refuse a tensor with a number that is not finite or is subnormal."""
    demand(np.isfinite(values), f"tensor {name!r} has entries that are not finite")
    normal = (values == 0) | (np.abs(values) >= form.smallest)
    demand(normal, f"tensor {name!r} has subnormal entries, which may be flushed")


def _decode_numbers(data: bytes, code: str) -> FloatArray:
    """The numbers of a tensor, on one axis, as float64."""
    if code == "BF16":
        wide = np.frombuffer(data, "<u2").astype("<u4") << 16
        return wide.view("<f4").astype(np.float64)
    kind = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I32": "<i4"}[code]
    return np.frombuffer(data, kind).astype(np.float64)
