"""The variables of a network: where they lie in the residual stream, and what they mean."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Never

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from krohn.network import ModelFileError
from krohn.network.directions import Directions, head_of
from krohn.network.modelfile import ModelFile
from krohn.network.stated_program import meanings_of, stated_program, stored_inputs
from krohn.program.errors import KrohnError, Refused
from krohn.program.interpreter import evaluate_operation
from krohn.program.meanings import NAMED, Meaning
from krohn.program.quoting import kind_of_value, listed, near
from krohn.program.statement import Statement, cone
from krohn.program.value_names import IS
from krohn.program.wording import message_for_user


@dataclass(frozen=True)
class VariablePlace:
    """Where a variable of the machine lies in the residual stream, and what it means.

    Attributes:
        name: The name of the variable.
        dims: First dimension, and one past the last.
        snapshots: First and last snapshot at which it is there: 0 is after the
            embedding, 2b + 1 after the heads of block b, 2b + 2 after its MLP.
        code: ``"integer"`` (the value itself) or ``"one-hot"``.
        head: Which head of its block wrote it, if one did.
        operation: The operation that it is the result of, as the file states it.
        meant: What the variables of the file mean, derived when it is first asked for.
        directions: In a disguised network, the directions of all dimensions; a variable
            lies along those of its own.
    """

    name: str
    dims: tuple[int, int]
    snapshots: tuple[int, int]
    code: str
    head: int | None
    operation: Mapping[str, Any]
    meant: Callable[[str], Meaning] = field(compare=False, repr=False)
    directions: Directions | None = field(default=None, compare=False, repr=False)

    @property
    def meaning(self) -> str:
        """How it is computed, in words."""
        return self.meant(self.name).says

    @property
    def values(self) -> Mapping[int, str]:
        """The name of each value: an answer, the answers that are possible with it, ….

        `krohn.program.meanings.Meaning` says what there is. Numbers, as a sum, have no
        names.
        """
        return self.meant(self.name).values

    @property
    def where(self) -> str:
        """Where it lies, in words."""
        first, last = self.snapshots
        block, after = divmod(first - 1, 2)
        part = f"head {self.head}" if after == 0 else "the MLP"
        writer = f"{part} of block {block}" if first else "the embedding"
        start, stop = self.dims
        several = stop - start > 1
        dims = f"dimensions {start} to {stop - 1}" if several else f"dimension {start}"
        block, after = divmod(last - 1, 2)
        until = f"the {'end' if after else 'MLP'} of block {block}"
        until = until if last else "the heads of block 0"
        kept = f"stream.{first}" + f" to stream.{last}" * (last > first)
        code = CODES.get(self.code, f"as a {self.code}")
        return f"{writer} writes it to {dims}, {code}; it stays until {until} ({kept})"

    def __str__(self) -> str:
        every = f"model.places()[{self.name!r}].values"
        return describe(self.meant(self.name), self.name, self.where, every)

    def read(self, stream: Tensor) -> Tensor:
        """The values in a stream ``(…, d)``: ``(…)`` whole numbers.

        Of a code of real numbers, those themselves: ``(…, dimensions)``.

        Raises:
            KrohnError: If it is no tensor.
        """
        if not isinstance(stream, Tensor):
            raise KrohnError(
                f"a stream is a tensor (…, d), as run_with_cache gives it, not "
                f"{kind_of_value(stream)}"
            )
        values = self._read_numbers(stream)
        if self.code == "one-hot":
            return values.argmax(dim=-1)
        return values[..., 0].round().long() if self.code == "integer" else values

    def write(self, stream: Tensor, values: Tensor) -> Tensor:
        """A stream in which these values stand, as `read` returns them."""
        if self.code == "one-hot":
            values = one_hot(values.long(), self.dims[1] - self.dims[0])
        elif self.code == "integer":
            values = values[..., None]
        if self.directions is not None:
            along = torch.from_numpy(self.directions.writes(self.dims))
            change: Tensor = values.to(stream) - self._read_numbers(stream)
            return stream + change @ along.to(stream)
        changed = stream.clone()
        changed[..., slice(*self.dims)] = values.to(stream)
        return changed

    def _read_numbers(self, stream: Tensor) -> Tensor:
        """The numbers by which its value is stored: ``(…, dimensions)``."""
        if self.directions is None:
            return stream[..., slice(*self.dims)]
        along = torch.from_numpy(self.directions.reads(self.dims, self.snapshots[0]))
        return stream @ along.to(stream)


class UnknownVariable(KrohnError, KeyError):
    """A name is that of no variable, or of none that is stored; the message says what is.

    It is a KeyError where a variable is asked for as of a dict.
    """

    def __str__(self) -> str:
        return message_for_user(str(self.args[0]))


class Places(dict[str, VariablePlace]):
    """Where variables lie, by name; a name that is not there is refused."""

    def __init__(
        self, places: Mapping[str, VariablePlace], refuse: Callable[[object], object]
    ) -> None:
        super().__init__(places)
        self._refuse = refuse

    def __missing__(self, name: object) -> Never:
        self._refuse(name)
        raise UnknownVariable(f"{name!r} is not among {listed(self)}")


@dataclass(frozen=True)
class Choices:
    """What a caller takes beside variables that are stored, for refusals.

    Attributes:
        others: Names of what may be meant beside variables.
        taken: Names of the variables that may be meant; None for all.
        call: What is called on a selection instead, if the name is a pattern.
    """

    others: Iterable[str] = ()
    taken: Iterable[str] | None = None
    call: str = ""


class Variables:
    """The variables of a file.

    Attributes:
        places: Where each one that is stored lies, by name.
    """

    def __init__(self, file: ModelFile, along: Directions | None = None) -> None:
        """Read where they lie; what they mean is derived when it is asked for.

        Args:
            file: The file.
            along: In a disguised network, the directions of its dimensions.

        Raises:
            ModelFileError: If the header is malformed there.
        """
        self._file = file
        try:
            stated = file.header.get("program", {}).get("channels", [])
            places = [_place(c, self.meaning, along) for c in stated if "dims" in c]
            found = {
                place.name: place
                if place.head is None
                else replace(
                    place, head=head_of(file, place.snapshots[0] // 2, place.head)
                )
                for place in places
            }
        except (AttributeError, LookupError, TypeError) as error:
            raise ModelFileError(
                f"the file is damaged: its channels are malformed ({error!r})"
            ) from None
        self.places = Places(found, self.place)

    def has(self, name: object) -> bool:
        """Whether a variable is called so, stored or not."""
        if not isinstance(name, str) or not self.places:
            return False
        return name in self.places or name in self.program.channels

    def place(self, name: object, choices: Choices = Choices()) -> VariablePlace:
        """Where a variable lies.

        Args:
            name: Its name.
            choices: What else the caller takes, for the refusal.

        Raises:
            UnknownVariable: If there is none of that name, or it is stored nowhere.
        """
        if isinstance(name, str) and name in self.places:
            return self.places[name]
        if choices.taken is None:
            choices = replace(choices, taken=self.places)
        read = [place.name for place in self.inputs(name, choices)]
        change = f"change {listed(read, last='or')}" if read else "change the word"
        raise UnknownVariable(
            f"the variable {name!r} is stored nowhere: it is computed from "
            f"{listed(read) or 'the letter'} where it is read; `read` gives its value, "
            f"and to change it, {change}"
        )

    def inputs(self, name: object, choices: Choices = Choices()) -> list[VariablePlace]:
        """Where the variables lie from which one is read: itself, if it is stored.

        Args:
            name: Its name.
            choices: What else the caller takes, for the refusal.

        Raises:
            UnknownVariable: If there is none of that name.
        """
        if not isinstance(name, str):
            raise UnknownVariable(
                f"a variable is called by its name, as 'stored', not by {name!r}"
            )
        if name in self.places:
            return [self.places[name]]
        if not self.places:
            raise UnknownVariable(
                "this network has no variables: only Transformers with a Program have any"
            )
        if name not in self.program.channels:
            if choices.call and self._fitting(name):
                raise UnknownVariable(
                    f"{name!r} is a pattern and no name; call "
                    f"`model.select({name!r}).{choices.call}`"
                )
            others, taken = [*choices.others], choices.taken
            known = [*others, *(self.program.channels if taken is None else taken)]
            both, lists = ("place or ", "; `model.hook_places()` lists the places")
            beside = bool(others)
            raise UnknownVariable(
                f"there is no {both * beside}variable {name!r}{near(name, known)}; "
                f"{self.answer}; the variables are {listed(self.places)}, and "
                f"`model.select()` prints all of them{lists * beside}"
            )
        read = stored_inputs(self.program, name)
        return [self.places[each] for each in read if each in self.places]

    def compute(self, name: str, read: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
        """A variable that is stored nowhere, as who reads it computes it.

        Args:
            name: Its name.
            read: ``(batch, time + 1)``: the values of its `inputs`.
            tokens: ``(batch, time)``.

        Raises:
            KrohnError: If it holds no whole numbers, or is not defined for what the
                network holds, as may be if that was changed.
        """
        codes = {self.places[each].code for each in read}
        if not codes <= {"integer", "one-hot"}:
            raise KrohnError(
                f"the variable {name!r} is stored nowhere, and holds real numbers; read "
                f"{listed(read)}"
            )
        values = {each: value.numpy(force=True) for each, value in read.items()}
        letters = np.pad(
            tokens.numpy(force=True), ((0, 0), (1, 0)), constant_values=self.program.bos
        )
        try:
            for each in cone(self.program, name, values):
                operation = self.program.operations[each]
                inputs = [values[n] for n in operation.reads]
                values[each] = evaluate_operation(operation, inputs, letters)
        except Refused as error:
            raise KrohnError(
                f"the variable {name!r} has no value where the network holds another one "
                f"than its Program says ({error})"
            ) from None
        return torch.from_numpy(values[name])

    def choose(self, patterns: Iterable[object]) -> list[str]:
        """The names of variables that are asked for, those that are stored first.

        Args:
            patterns: Names; in one that is no name ``*`` stands for any text, ``?`` for one
                character.

        Raises:
            UnknownVariable: If one fits no variable.
        """
        chosen = dict[str, None]()
        for pattern in patterns:
            fits = self._fitting(str(pattern))
            if not fits:
                self.inputs(pattern)  # of one that is stored nowhere there are inputs
            chosen |= dict.fromkeys(fits or [str(pattern)])
        return list(chosen)

    def _fitting(self, pattern: str) -> list[str]:
        """The stored variables that a pattern fits: ``*`` any text, ``?`` a character."""
        signs = {"*": ".*", "?": "."}
        text = "".join(signs.get(sign, re.escape(sign)) for sign in pattern)
        return [name for name in self.places if re.fullmatch(text, name)]

    def describe(self, name: str) -> str:
        """A variable in words: how it is computed, where it lies, what values mean.

        Raises:
            UnknownVariable: If there is none of that name.
        """
        if name in self.places:
            return str(self.places[name])
        read = [place.name for place in self.inputs(name)]
        source = listed(read, last="and") or "the letter"
        where = f"it is stored nowhere, and computed from {source} where it is read"
        every = f"model.variables.meaning({name!r}).values"
        return describe(self.meaning(name), name, where, every)

    @property
    def answer(self) -> str:
        """Which variables the network's answer is read from, in words."""
        outputs = self.program.outputs
        together = " together" * (len(outputs) > 1)
        return f"the network's answer is in {listed(outputs, last='and')}{together}"

    def meaning(self, name: str) -> Meaning:
        """What a variable means, stored or not.

        Raises:
            ModelFileError: If the header is malformed there.
        """
        return self.meanings[name]

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """What each variable means, stored or computed on the way.

        Raises:
            ModelFileError: If the header is malformed there.
        """
        return meanings_of(self._file, self.program)

    @cached_property
    def program(self) -> Statement:
        """The Program that the file states.

        Raises:
            ModelFileError: If it is malformed.
        """
        return stated_program(self._file)


CODES = {"integer": "as an integer", "one-hot": "one-hot"}
"""How a value is laid out, in words."""
MOST_LISTED = 8
"""Values that a description lists."""


def describe(meaning: Meaning, name: str, where: str, every: str) -> str:
    """A variable in three lines: how it is computed, where it lies, what values mean.

    Args:
        meaning: What it means.
        name: Its name.
        where: Where it lies, in words.
        every: The expression in Python that has all that its values mean.
    """
    cut_off = meaning.short != meaning.values or len(meaning.values) > MOST_LISTED + 1
    more = f" (all: `{every}`)" * cut_off
    return f"{name}: {meaning.says}\n  {where}\n  {_values_in_words(meaning)}{more}"


def _values_in_words(meaning: Meaning) -> str:
    """What the values of a variable mean."""
    what, texts = NAMED[meaning.named_by], meaning.short
    read = {text.partition(IS)[0] for text in texts.values() if IS in text}
    plain = meaning.named_by == "input" and all(t.count(IS) < 2 for t in texts.values())
    if plain and len(read) == 1:
        (one,) = read
        what = f"what {one} is with each value"
        texts = {value: text.removeprefix(one + IS) for value, text in texts.items()}
    return f"{what}{': ' * bool(texts)}{list_values(texts, texts)}"


def list_values(values: Iterable[int], names: Mapping[int, str]) -> str:
    """Values in a row, each with its name if it has one: ``0 → shut; 1 → open``."""
    texts = [f"{v} → {names[v] or repr('')}" if v in names else str(v) for v in values]
    return listed(texts, MOST_LISTED, between="; ")


def _place(
    channel: Mapping[str, Any],
    meant: Callable[[str], Meaning],
    along: Directions | None,
) -> VariablePlace:
    where = ("name", "dims", "snapshots", "code", "head", "domain")
    operation = {k: v for k, v in channel.items() if k not in where}
    return VariablePlace(
        name=channel["name"],
        dims=(channel["dims"][0], channel["dims"][1]),
        snapshots=(channel["snapshots"][0], channel["snapshots"][1]),
        code=channel["code"],
        head=channel.get("head"),
        operation=operation,
        meant=meant,
        directions=along,
    )
