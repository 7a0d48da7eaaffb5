"""Opening a model file for use: words in, states out, and every channel by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast, overload

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import kind_of
from krohn.network.directions import (
    Directions,
    directions,
    head_of,
)
from krohn.network.modelfile import ModelFile, alphabets
from krohn.network.reading import (
    NOT_FINITE as NOT_FINITE,
    TIED as TIED,
    is_one,
    is_read_by_numpy,
    name_chosen_classes,
)
from krohn.network.recurrent import Stepping
from krohn.network.running_file import plain_network, running_file
from krohn.network.transformer import Transformer
from krohn.program.claim import Sense, Shows
from krohn.program.errors import refuse_unknown
from krohn.program.user_input import name_of
from krohn.program.word_texts import split_letters, write_letter

# The places of a machine's variables in the residual stream, as a model file says them.


@dataclass(frozen=True)
class VariablePlace:
    """Where a variable of the machine lies in the residual stream.

    Attributes:
        channel: The name of the variable.
        dims: First dimension, and one past the last.
        snapshots: First and last snapshot at which it is there: 0 is after the
            embedding, 2b + 1 after the heads of block b, 2b + 2 after its MLP.
        code: ``"integer"`` (the value itself) or ``"one-hot"``.
        head: Which head of its block wrote it, if one did.
        operation: The operation that it is the result of, as the file states it.
        values: The names of its values, if it holds the answer: its states or outputs.
        directions: In a disguised network, the directions of all dimensions; a variable
            lies along those of its own.
    """

    channel: str
    dims: tuple[int, int]
    snapshots: tuple[int, int]
    code: str
    head: int | None
    operation: Mapping[str, Any]
    values: Mapping[int, str] = field(default_factory=dict)
    directions: Directions | None = field(default=None, compare=False, repr=False)

    def read(self, stream: Tensor) -> Tensor:
        """The values in a stream ``(…, d)``: ``(…)`` whole numbers.

        Of a code of real numbers, those themselves: ``(…, dimensions)``.
        """
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


def places(
    file: ModelFile, along: Directions | None = None
) -> dict[str, VariablePlace]:
    """Where every stored channel lies, by name; in a disguised network ``along`` what.

    Raises:
        ModelFileError: If the header is malformed there.
    """
    try:
        program = file.header.get("program", {})
        stated, answers = program.get("channels", []), _answers(file, program)
        by_name = {c["name"]: _place(c) for c in stated if "dims" in c}
        return {
            name: replace(
                place,
                head=place.head
                if place.head is None
                else head_of(file, place.snapshots[0] // 2, place.head),
                values=answers.get(name, {}),
                directions=along,
            )
            for name, place in by_name.items()
        }
    except (AttributeError, LookupError, TypeError) as error:
        raise ModelFileError(
            f"the file is damaged: its channels are malformed ({error!r})"
        ) from None


def _answers(file: ModelFile, program: Mapping[str, Any]) -> dict[str, dict[int, str]]:
    """The names of the values of a variable that alone decides the answer."""
    outputs, names = program.get("outputs", []), file.claim.answers
    if len(outputs) != 1 or not names or file.claim.sense is not Sense.EXACT:
        return {}
    return {outputs[0]: {row[0]: names[q] for row, q in program.get("decode", [])}}


def _place(channel: Mapping[str, Any]) -> VariablePlace:
    where = ("name", "dims", "snapshots", "code", "head", "domain")
    operation = {k: v for k, v in channel.items() if k not in where}
    return VariablePlace(
        channel=channel["name"],
        dims=(channel["dims"][0], channel["dims"][1]),
        snapshots=(channel["snapshots"][0], channel["snapshots"][1]),
        code=channel["code"],
        head=channel.get("head"),
        operation=operation,
    )


# Words by the names of their letters, one or many, as tensors of tokens.


Word = Sequence[str]
SHOWN = 12


class Words(NamedTuple):
    """Words side by side.

    Attributes:
        tokens: ``(batch, time)``; after the end of a word stands the first letter, which
            no earlier position sees.
        lengths: ``(batch,)``: how many letters each word has.
    """

    tokens: Tensor
    lengths: Tensor


def pad_words(words: Sequence[Sequence[int]], device: torch.device) -> Words:
    """Words of tokens side by side."""
    lengths = torch.tensor([len(word) for word in words], dtype=torch.long)
    tokens = torch.zeros(len(words), int(lengths.max()), dtype=torch.long)
    for row, word in zip(tokens, words, strict=True):
        row[: len(word)] = torch.tensor(word, dtype=torch.long)
    return Words(tokens.to(device), lengths.to(device))


def encode_word(
    word: Word, index: Callable[[str], int | None], letters: Sequence[str], of: str = ""
) -> list[int]:
    """The tokens of a word.

    Args:
        word: Its letters by name, of which one that is called by a whole number may be
            that; or a text, as the command takes it.
        index: The token of a name; None for what is no letter.
        letters: All of them.
        of: Which word it is, for messages.

    Raises:
        ModelFileError: If something in it is no letter; the message says where.
    """
    tokens = []
    if not letters:
        raise ModelFileError("the network reads numbers, and no letters")
    if isinstance(word, str):
        word = split_letters([word], lambda name: index(name) is not None, letters)
    for at, letter in enumerate(map(name_of, word), start=1):
        token = index(letter) if isinstance(letter, str) else None
        if token is None:
            some = [
                *map(write_letter, letters[:SHOWN]),
                *["…"] * (len(letters) > SHOWN),
            ]
            raise ModelFileError(
                f"{letter!r} is not a letter (letter {at}{of}); the letters are "
                f"{', '.join(some)}"
            )
        tokens.append(token)
    return tokens


def check_tokens(tokens: Tensor, letters: Sequence[str], device: torch.device) -> None:
    """Refuse tensors that are no words.

    Raises:
        ModelFileError: If they are of another shape, type or device, or have an entry
            that is no letter; the message says where.
    """
    if tokens.dim() != 2 or tokens.dtype not in (torch.int64, torch.int32):
        raise ModelFileError(
            "tokens are whole numbers, a row for each word (`model.encode` makes them); "
            f"these are {tokens.dtype}, {tuple(tokens.shape)}"
        )
    if tokens.device != device:
        raise ModelFileError(
            f"the tokens are on {tokens.device}, the network is on {device}"
        )
    if not tokens.numel():
        return
    least, most = tokens.aminmax()
    if least.item() < 0 or most.item() >= len(letters):
        strange = (tokens < 0) | (tokens >= len(letters))
        row, at = (int(i) for i in strange.nonzero()[0])
        token = int(tokens[row, at])
        bos = ", the start symbol, which the network puts in front itself,"
        raise ModelFileError(
            f"the token {token}{bos * (token == len(letters))} is not a letter (letter "
            f"{at + 1} of word {row + 1}); letters are 0, …, {len(letters) - 1}"
        )


# Opening a model file for use: words in, states out, and every channel by name.


Network = Transformer | Stepping
Alphabets = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

_OTHERS = {"laws": "laws instead of states", "reals": "vectors instead of letters"}


class Model(nn.Module):
    """A network from a model file, with the alphabets of its machine.

    Attributes:
        network: The plain `Transformer`, or recurrent network.
        file: The model file that it was opened from.
        header: Everything that the file states about it.
        letters: The letters by name; tokens are their indices.
        states: The states by name.
        classes: What the logits stand for, by name: the states, or the outputs of the
            machine if the file claims to say these.
        length: The longest word it is claimed for; None if there is no limit.
    """

    def __init__(self, file: ModelFile) -> None:
        super().__init__()
        self.letters, self.states, self.classes = self._alphabets(file)
        self._index = {letter: i for i, letter in enumerate(self.letters)}
        self.length = file.claim.length
        self.network = cast("Network", plain_network(file))
        self.file, self.header, self._directions = file, file.header, directions(file)
        self.eval()

    @staticmethod
    def _alphabets(file: ModelFile) -> Alphabets:
        """The letters, the states and the classes by name.

        Raises:
            ModelFileError: If it says something else than classes.
        """
        kind = kind_of(file.architecture)
        if kind.answers != "classes":
            raise ModelFileError(
                f"it is {kind.called}, which has {_OTHERS[kind.answers]}; krohn.load "
                "opens it"
            )
        return alphabets(file)

    @property
    def shows(self) -> Literal["states", "outputs"]:
        """The meaning of the classes: the machine's states, or their outputs."""
        match self.file.claim.shows:
            case Shows.STATES:
                return "states"
            case Shows.OUTPUTS:
                return "outputs"
            case other:
                return refuse_unknown(other, "a network in Python")

    @property
    def longest(self) -> int | None:
        """The longest word that it has room for; None if there is no limit."""
        return self.network.length

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return next(self.parameters()).device

    def forward(self, words: Tensor | Words | Word | Sequence[Word]) -> Tensor:
        """Logits ``(batch, time, classes)``.

        Args:
            words: ``(batch, time)`` letter indices; or words, as `encode` takes and
                returns them. After the end of a word its logits mean nothing.

        Raises:
            ModelFileError: If something is no letter, or the words are longer than the
                model has positions for.
        """
        if isinstance(words, Tensor):
            check_tokens(words, self.letters, self.device)
            tokens = words
        else:
            tokens = self.side_by_side(words).tokens
        self.check_length(tokens.shape[1])
        return self.network(tokens)  # type: ignore[no-any-return]

    def check_length(self, length: int) -> None:
        """Refuse words that are too long.

        Raises:
            ModelFileError: If the model has no positions for them.
        """
        modelfile.check_length(length, self.network.length)

    @overload
    def encode(self, word: Word) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def encode(self, word: Sequence[Word]) -> Words: ...
    def encode(self, word: Word | Sequence[Word]) -> Tensor | Words:
        """``(1, length)`` token indices of a word given by the names of its letters.

        Where letters are classes of vectors of input bits, a vector is a letter too.

        Args:
            word: A word, as a string or a sequence of letters; or a list of such
                sequences, each one a word.

        Returns:
            For a list of words the tokens side by side, and the lengths.

        Raises:
            ModelFileError: If a letter is unknown, or heads see the whole word, and the
                words differ in length.
        """
        if is_one(word):
            one = encode_word(cast("Word", word), self.token, self.letters)
            return torch.tensor([one], device=self.device).long()
        told = [
            encode_word(each, self.token, self.letters, f" of word {i}")
            for i, each in enumerate(word, start=1)
        ]
        if len({len(each) for each in told}) > 1 and not self.causal:
            raise ModelFileError(
                "its heads see the whole word, so that words of different lengths cannot "
                "be run side by side; run them one by one"
            )
        return pad_words(told, self.device)

    @property
    def causal(self) -> bool:
        """Whether what it says after a letter depends on no later one."""
        return not isinstance(self.network, Transformer) or self.network.causal

    def side_by_side(self, words: Tensor | Words | Word | Sequence[Word]) -> Words:
        """Words in whatever form, as tokens with their lengths.

        Raises:
            ModelFileError: If something is no letter.
        """
        if not isinstance(words, Tensor | Words):
            words = self.encode(words)
        if not isinstance(words, Words):
            lengths = torch.full((len(words),), words.shape[-1], device=words.device)
            words = Words(words, lengths)
        check_tokens(words.tokens, self.letters, self.device)
        return words

    def token(self, letter: str) -> int | None:
        """The index of a letter; None if there is none of that name."""
        known = self._index.get(letter)
        return self._of_bits(letter) if known is None else known

    def _of_bits(self, vector: str) -> int | None:
        """The letter that a vector of input bits is; None if it is no such vector."""
        inputs = self.header.get("machine", {}).get("inputs")
        if inputs is None or set(vector) - {"0", "1"}:
            return None
        try:
            if len(vector) != inputs["bits"]:
                return None
            at = len(inputs["nodes"]) - 1
            while at >= 0:
                bit, *below = inputs["nodes"][at]
                at = min(at - 1, below[vector[bit] == "1"])
            return range(len(self.letters))[-1 - at]
        except (LookupError, TypeError):
            raise ModelFileError(
                "is damaged: its machine has no classes of input bits"
            ) from None

    @overload
    def run(self, word: Word) -> list[str]: ...  # type: ignore[overload-overlap]
    @overload
    def run(self, word: Sequence[Word]) -> list[list[str]]: ...
    def run(self, word: Word | Sequence[Word]) -> list[str] | list[list[str]]:
        """The class that the network chooses after each letter of ``word``, by name.

        `NOT_FINITE` or `TIED` where the logits choose none. For a list of words, as
        `encode` takes it, a list for each.

        Raises:
            ModelFileError: If a letter is unknown or the word is too long.
        """
        if is_one(word) and not len(word):
            return []
        words = self.side_by_side(word)
        answers = [
            list(name_answers(logits[:length], self.classes))
            for logits, length in zip(self(words), words.lengths.tolist(), strict=True)
        ]
        return answers[0] if is_one(word) else answers

    def places(self) -> dict[str, VariablePlace]:
        """Where every stored channel lies, by name (none for an RNN).

        Raises:
            ModelFileError: If the header is malformed there.
        """
        return places(self.file, self._directions)

    def read(
        self, channel: str, words: Tensor | Words | Word | Sequence[Word]
    ) -> Tensor:
        """The value of a channel at every position, read from the residual stream.

        Args:
            channel: A name from `places`.
            words: As `forward` takes them.

        Returns:
            ``(batch, time + 1)`` integers at the snapshot where the channel first
            stands; position 0 is BOS. Of matrices and vectors, their entries. Values
            behind the end of a shorter word mean nothing.

        Raises:
            ModelFileError: If there is no such channel, something is no letter, or a
                word is too long.
        """
        place = self.places().get(channel)
        if place is None or not isinstance(self.network, Transformer):
            raise ModelFileError(
                f"there is no channel {channel!r}; `places()` lists all of them"
            )
        tokens = self.side_by_side(words).tokens
        self.check_length(tokens.shape[1])
        return place.read(self.network.snapshots(tokens)[place.snapshots[0]])


_OWN = ("krohn.network.model", "krohn.open_model")
"""Where the classes of open networks are, whose code the rest of the package knows."""


def current_file(model: Model) -> ModelFile:
    """The file of the numbers that an open network runs now.

    It is that which it was opened from while they are its own.

    Raises:
        ModelFileError: If no file says what it does now.
    """
    own = type(model)
    if own.__module__ not in _OWN:
        raise ModelFileError(
            f"a {own.__name__} is a class of its own, whose code cannot be proved"
        )
    return running_file(model.file, model, own(model.file))


def describe_change(model: Model) -> str:
    """How it is another network than that of its file; nothing if it is not."""
    try:
        same = current_file(model) is model.file
    except ModelFileError as reason:
        return str(reason)
    return "" if same else "the network was changed since it was opened"


def network_for_torch(model: Model, change: str | None = None) -> Network | None:
    """The network that torch is to run; None where numpy runs that of the file as well.

    So it is on the CPU while its numbers are those of the file: texts are read several
    times as fast.

    Args:
        model: An open network.
        change: How it is another one than that of its file; None to look.
    """
    if model.device.type != "cpu" or not is_read_by_numpy(model.file):
        return model.network
    changed = describe_change(model) if change is None else change
    return model.network if changed else None


def name_answers(logits: Tensor, classes: Sequence[str]) -> tuple[str, ...]:
    """The names of the classes that logits ``(count, classes)`` of torch choose."""
    return name_chosen_classes(logits.detach().double().cpu().numpy(), classes)
