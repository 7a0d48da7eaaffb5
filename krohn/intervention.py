"""Reading the values that a network computed on the way, and changing them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count, cut, listed
from krohn.network.forward_pass import Hook, Hooks
from krohn.network.model import name_answers
from krohn.network.modelfile import ModelFile
from krohn.network.transformer import Transformer
from krohn.network.variables import Choices, VariablePlace, Variables, list_values
from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import Refused
from krohn.program.interpreter import Held
from krohn.program.intervention import Prediction, predict
from krohn.program.statement import Statement, parse

if TYPE_CHECKING:
    from krohn.open_model import Model


@dataclass(frozen=True, repr=False)
class Activations(Mapping[str, Tensor]):
    """Tensors by name: places as `Model.hook_places` lists them, and variables.

    Position 0 is the start symbol, BOS. ``activations["blocks.0.attention.pattern"]`` is
    ``(batch, heads, time + 1, time + 1)``: how much each position takes of each;
    ``activations["stream.3"]`` is ``(batch, time + 1, d)``: the residual stream after the
    third sublayer; a variable, where it is first stored, is ``(batch, time + 1)``.

    Attributes:
        seen: What stood at each place.
        variables: Where variables lie.
        lengths: ``(batch,)``: how many letters each word has; what stands after them
            means nothing.
    """

    seen: Mapping[str, Tensor]
    variables: Variables
    lengths: Tensor

    def __getitem__(self, name: str) -> Tensor:
        """The value at a place, or of a variable.

        Raises:
            KrohnError: If there is neither of that name.
        """
        if name in self.seen:
            return self.seen[name]
        place = self.variables.place(name, Choices(self.seen))
        return place.read(self.seen[f"stream.{place.snapshots[0]}"])

    def __contains__(self, name: object) -> bool:
        return name in self.seen or name in self.variables.places

    def __iter__(self) -> Iterator[str]:
        yield from self.seen
        yield from (name for name in self.variables.places if name not in self.seen)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        words = count(len(self.lengths), "word")
        return (
            f"<Activations of {words}: {count(len(self.seen), 'place')}, "
            f"{count(len(self.variables.places), 'variable')}>"
        )


# Changing what a network holds while it runs, beside what its Program says of that.
#
# A value is written as its code into the variable's dimensions of the residual stream, at
# the snapshot where the variable is born; a head is ablated by taking what it takes away,
# at every letter. What should happen then is what the Program of the file says if its
# channels have these values (`krohn.program.intervention.predict`).


class Intervention(NamedTuple):
    """A variable is given a value at a letter.

    Attributes:
        variable: Its name.
        position: After which letter: 1 is the first one.
        value: A whole number of its domain, or the name of one.
    """

    variable: str
    position: int
    value: int | str


@dataclass(frozen=True)
class Outcome:
    """The answers of a network that is changed, and the answers that its Program predicts.

    Answers are states where the machine has outputs, too: ``run(word, states=True)``.

    Attributes:
        word: The letters.
        change: What was changed, in words.
        before: What it says unchanged, after each letter.
        answers: What it says changed.
        predicted: What its Program says of the change; None where the Program is not
            defined, for the values there never occur together.
        reason: Why not every answer is predicted; empty if each is.
    """

    word: tuple[str, ...]
    change: str
    before: tuple[str, ...]
    answers: tuple[str, ...]
    predicted: tuple[str | None, ...]
    reason: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether the network says what is predicted, after every letter.

        True if every answer is predicted and is as predicted; False if one is another
        than predicted; None if neither, so that some answers are not predicted.
        """
        pairs = zip(self.answers, self.predicted, strict=True)
        if any(wanted not in (None, answer) for answer, wanted in pairs):
            return False
        return None if None in self.predicted else True

    def __repr__(self) -> str:
        what = f"{cut(self.change, 60)}: {self._effect()}"
        return f"<Outcome {what}; {self._agreement()}>"

    def _changed(self) -> list[int]:
        """After which letters the change makes the answer another one."""
        both = enumerate(zip(self.before, self.answers, strict=True), start=1)
        return [t for t, (was, now) in both if was != now]

    def _effect(self) -> str:
        """The first answer that the change makes another one, in words."""
        changed = self._changed()
        if not changed:
            return "no answer changes"
        was, now = self.before[changed[0] - 1], self.answers[changed[0] - 1]
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"{was} → {now} after letter {changed[0]}{more}"

    def _agreement(self) -> str:
        """Whether what is predicted happens, and what is not predicted, in words."""
        known = sum(wanted is not None for wanted in self.predicted)
        if self.agrees is not None:
            start = "as predicted" if self.agrees else "NOT as predicted"
            return f"{start}, {known} of {count(len(self.word), 'letter')} predicted"
        why = f": {self.reason}" * bool(self.reason)
        if not known:
            return f"nothing is predicted{why}"
        agree = f"the {known} predicted answers agree"
        agree = "the one predicted answer agrees" if known == 1 else agree
        open_ = [t for t in self._changed() if self.predicted[t - 1] is None]
        rest = "the others are" if len(self.word) - known > 1 else "the other is"
        rest = f"the change after letter {open_[0]} is" if open_ else rest
        return f"{agree}; {rest} not predicted{why}"


def read_program(model: "Model", laws: bool = False) -> Statement:
    """The Program that the file states.

    Args:
        model: The network.
        laws: Whether it may say one of finitely many laws, as of a belief.

    Raises:
        KrohnError: If there is none that says states or outputs.
    """
    stated = model.header.get("program", {}).get("channels")
    if not isinstance(model.network, Transformer) or not stated:
        raise KrohnError("only Transformers with a Program have variables to change")
    return parse_program(model.file, laws)


def parse_program(file: ModelFile, laws: bool = False) -> Statement:
    """The Program that the file of a Transformer states.

    Args:
        file: The model file.
        laws: As of `read_program`.

    Raises:
        KrohnError: If it says no states, outputs or classes.
    """
    letters, length = file.architecture.vocabulary - 1, file.claim.length or 1
    try:
        statement = parse(file.header["program"], letters, length, vectors=laws)
    except (Refused, LookupError, TypeError, ValueError) as error:
        raise KrohnError(
            f"the effect of patches on this network cannot be predicted: {error}"
        ) from None
    if not statement.decode:
        raise KrohnError(
            "patches can be predicted only for networks that say states or outputs"
        )
    return statement


def check(
    model: "Model", program: Statement, one: Intervention, length: int
) -> Intervention:
    """The intervention, with the number of its value.

    Raises:
        KrohnError: If there is no such variable, position or value.
    """
    variable, position, value = one
    variables = model.variables
    variables.place(variable, Choices(call="patch(word, position, value)"))
    at = _whole(position)
    if at is None or not 1 <= at <= length:
        why = "; at 0 is the start symbol" if position == 0 else ""
        raise KrohnError(
            f"there is no position {position!r} in a word of {count(length, 'letter')}, "
            f"the first of which is at 1{why}"
        )
    channel, meaning = program.channels[variable], variables.meaning(variable)
    known = channel.domain.tolist()
    if isinstance(value, str):
        named = [
            v for v in known if value in (meaning.values.get(v), meaning.short.get(v))
        ]
        number = named[0] if len(named) == 1 else None
    else:
        number = _whole(value)
    later = channel.later.tolist()
    if number not in later:
        never = "is" if number in known else "is never"
        first = " before the first letter alone" * (number in known)
        raise KrohnError(
            f"{variable!r} {never} {value!r}{first}; its values after a letter are "
            f"{list_values(later, meaning.short)}"
        )
    assert number is not None
    return Intervention(variable, at, number)


def _whole(value: object) -> int | None:
    """A whole number, of whatever type; None if it is none, or a truth value."""
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def held_by(
    interventions: Sequence[Intervention], shape: tuple[int, int]
) -> dict[str, Held]:
    """The values of interventions on one word, ``(1, length + 1)`` each."""
    patches: dict[str, Held] = {}
    for variable, position, value in interventions:
        blank = Held(np.zeros(shape, np.int64), np.zeros(shape, np.bool_))
        values, where = patches.setdefault(variable, blank)
        assert where is not None
        values[:, position], where[:, position] = value, True
    return patches


def run_changed(
    model: "Model",
    tokens: Tensor,
    held: Mapping[str, Held],
    program: Statement | None = None,
) -> tuple[Tensor, Prediction]:
    """Run words with variables held, and say what should happen.

    Args:
        model: The network.
        tokens: ``(batch, length)``.
        held: For variables the values, ``(batch, length + 1)``, and where they are given.
        program: Its Program; by default the one that `read_program` says.

    Returns:
        Logits ``(batch, length, classes)``, and the prediction.
    """
    hooks: dict[str, list[Hook]] = {}
    for name, (values, where) in held.items():
        place = model.variables.place(name)
        hook = partial(_overwrite, place, values, where)
        hooks.setdefault(f"stream.{place.snapshots[0]}", []).append(hook)
    assert isinstance(model.network, Transformer)
    logits = model.network.run_with_hooks(tokens, Hooks(hooks))
    return logits, predict(
        program or read_program(model), tokens.numpy(force=True), held
    )


def _overwrite(
    place: VariablePlace, values: IntArray, where: BoolArray | None, stream: Tensor
) -> Tensor:
    new = place.write(stream, torch.from_numpy(values).to(stream.device))
    if where is None:
        return new
    return torch.where(
        torch.from_numpy(where).to(stream.device)[..., None], new, stream
    )


def without_heads(
    model: "Model", tokens: Tensor, variables: Sequence[str]
) -> tuple[Tensor, Prediction]:
    """Run words without the heads that write variables, and say what should happen.

    At every letter a head adds nothing, so that the variables which it writes are 0
    there if they are stored as numbers. One that is stored as a unit vector has no value
    then, nor has one that is never 0: of these nothing is predicted.

    Raises:
        KrohnError: If there is no such variable, or no head writes it.
    """
    places, program = model.variables, read_program(model)
    silenced = {_writing_head(places, variable) for variable in variables}
    hooks = dict[str, list[Hook]]()
    for block, head in silenced:
        at = hooks.setdefault(f"blocks.{block}.attention.taken", [])
        at.append(partial(_silence, head))
    assert isinstance(model.network, Transformer)
    logits = model.network.run_with_hooks(tokens, Hooks(hooks))
    shape = (len(tokens), tokens.shape[1] + 1)
    zeros = _letters(shape, 0)
    written = _written_with(places, variables)
    prediction = predict(
        program, tokens.numpy(force=True), dict.fromkeys(written, zeros)
    )
    if _without_value(model, variables):
        nothing = np.full_like(prediction.answers, -1)
        prediction = Prediction(nothing, prediction.values, np.zeros(shape, np.bool_))
    return logits, prediction


def why_unpredicted_without(model: "Model", variables: Sequence[str]) -> str:
    """Why nothing is predicted without the heads that write variables; empty if it is."""
    lost = _without_value(model, variables)
    if not lost:
        return ""
    at = {name: _writing_head(model.variables, name) for name in lost}
    block, head = at[lost[0]]
    same = [name for name in lost if at[name] == at[lost[0]]]
    one_hot = [n for n in same if read_program(model).channels[n].one_hot]
    told, code = (one_hot, ", one-hot") if one_hot else (same, "")
    they, have, are = ("they", "have", "are") if len(told) > 1 else ("it", "has", "is")
    left = f"{have} no value" if one_hot else f"would be 0, which {they} never {are}"
    also = "" if set(told) & set(variables) else "also "
    writes = f"{also}writes {listed(told, 4, last='and')}{code}"
    return f"head {head} of block {block} {writes}; without the head {they} {left}"


def _writing_head(variables: Variables, name: str) -> tuple[int, int]:
    """The block and the head that write a variable.

    Raises:
        KrohnError: If there is no such variable, or no head writes it.
    """
    carried = [n for n, each in variables.places.items() if each.head is not None]
    place = variables.place(name, Choices(taken=carried, call="ablate(word)"))
    if place.head is None:
        raise KrohnError(
            f"no head writes {name!r}; heads write {listed(carried) or 'no variable'}"
        )
    return place.snapshots[0] // 2, place.head


def _written_with(variables: Variables, names: Sequence[str]) -> list[str]:
    """All variables of the heads that write some."""
    heads = {_writing_head(variables, name) for name in names}
    every = [n for n, place in variables.places.items() if place.head is not None]
    return [name for name in every if _writing_head(variables, name) in heads]


def _without_value(model: "Model", names: Sequence[str]) -> list[str]:
    """Which variables have no value without the heads that write some."""
    channels = read_program(model).channels
    written = _written_with(model.variables, names)
    return [n for n in written if channels[n].one_hot or 0 not in channels[n].later]


def _silence(head: int, taken: Tensor) -> Tensor:
    kept = taken.clone()
    kept[:, head, 1:] = 0
    return kept


def _letters(shape: tuple[int, int], value: int) -> Held:
    where = np.ones(shape, np.bool_)
    where[:, 0] = False
    return Held(np.full(shape, value), where)


def outcome(
    model: "Model",
    tokens: Tensor,
    change: str,
    found: tuple[Tensor, Prediction],
    reason: str = "",
) -> Outcome:
    """The outcome of a change on one word.

    Args:
        model: The network.
        tokens: ``(1, length)``.
        change: In words.
        found: Logits and prediction.
        reason: Why nothing is predicted, if that is known.
    """
    logits, prediction = found
    names = model.classes
    numbers = prediction.answers[0].tolist()
    wanted = tuple(None if q < 0 else names[q] for q in numbers)
    if None in wanted and not reason:
        reason = why_unpredicted(model, prediction, wanted.index(None) + 1)
    return Outcome(
        tuple(model.letters[letter] for letter in tokens[0].tolist()),
        change,
        name_answers(model.network(tokens)[0], names),
        name_answers(logits[0], names),
        wanted,
        reason,
    )


def why_unpredicted(model: "Model", prediction: Prediction, first: int) -> str:
    """Why not all answers are predicted, in words.

    Args:
        model: The network.
        prediction: Of one word.
        first: The first letter whose answer is not predicted.
    """
    program, gap = read_program(model), prediction.gap
    token = next(iter(program.channels))

    def told(read: Mapping[str, int]) -> str:
        letters = dict(enumerate(model.letters))
        values = {n: letters.get(v, v) if n == token else v for n, v in read.items()}
        return listed([f"{n} = {v}" for n, v in values.items()], 6, last="and")

    if gap is None:
        said = {n: int(prediction.values[n][0, first]) for n in program.outputs}
        return f"{told(said)} after letter {first} stand for no answer"
    at = f"after letter {gap.position}" if gap.position else "before the first letter"
    if not gap.read:
        return f"{at} {gap.channel} would be {gap.value}, which it never is"
    if gap.of_letter:
        return f"no letter gives {told(gap.read)}, as {at}; change them together"
    together = " together" * (len(gap.read) > 1)
    return f"{told(gap.read)} never occur{'s' * (not together)}{together}, as {at}"
