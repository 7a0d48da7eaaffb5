"""Opening a model file for use: words in, states out, and every channel by name."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, cast, overload

import torch
from torch import Tensor, nn

from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import kind_of
from krohn.network.directions import directions
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
from krohn.network.variables import Choices, VariablePlace, Variables
from krohn.program.claim import Shows
from krohn.program.errors import KrohnError, refuse_unknown
from krohn.program.quoting import kind_of_value
from krohn.program.user_input import find_wrong_letter, name_of
from krohn.program.word_texts import split_letters

# Words by the names of their letters, one or many, as tensors of tokens.


Word = Sequence[str]


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


def check_tokens(tokens: Tensor, letters: Sequence[str], device: torch.device) -> None:
    """Refuse tensors that are no words.

    Raises:
        KrohnError: If they are of another shape, type or device, or have an entry
            that is no letter; the message says where.
    """
    if tokens.dim() != 2 or tokens.dtype not in (torch.int64, torch.int32):
        raise KrohnError(
            "tokens are whole numbers, a row for each word (`model.encode` makes them); "
            f"these are {tokens.dtype}, {tuple(tokens.shape)}"
        )
    if tokens.device != device:
        raise KrohnError(
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
        raise KrohnError(
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
            KrohnError: If something is no letter, or the words are longer than the
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
            KrohnError: If the model has no positions for them.
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
            KrohnError: If a letter is unknown, or heads see the whole word, and the
                words differ in length.
        """
        if is_one(word):
            one = self.tokens_of(word)
            return torch.tensor([one], device=self.device).long()
        told = [
            self.tokens_of(each, f" of word {i}")
            for i, each in enumerate(word, start=1)
        ]
        if len({len(each) for each in told}) > 1 and not self.causal:
            raise KrohnError(
                "its heads see the whole word, so that words of different lengths cannot "
                "be run side by side; run them one by one"
            )
        return pad_words(told, self.device)

    def tokens_of(self, word: object, of: str = "") -> list[int]:
        """The tokens of a word.

        Args:
            word: Its letters by name, of which one that is called by a whole number may
                be that; or a text, as the command takes it.
            of: Which word it is, for messages.

        Raises:
            KrohnError: If something in it is no letter; the message says where.
        """
        if not self.letters:
            raise KrohnError("the network reads numbers, and no letters")
        if not isinstance(word, Iterable):
            raise KrohnError(
                f"{of.removeprefix(' of ') or 'this'} is {kind_of_value(word)}; a word is "
                "a string or a list of letters"
            )
        names = (
            self.split_text(word) if isinstance(word, str) else [*map(name_of, word)]
        )
        bits = self._input_bits()
        if wrong := find_wrong_letter(names, self.is_letter, self.letters, of, bits):
            raise KrohnError(wrong)
        return [cast("int", self.token(name)) for name in names]

    def split_text(self, text: str) -> list[str]:
        """The letters of a word that is written as a text, by name."""
        bits = self._input_bits()
        letters = ("0" * bits,) if bits else self.letters
        return split_letters([text], self.is_letter, letters)

    def is_letter(self, name: str) -> bool:
        """Whether a letter is called so."""
        return self.token(name) is not None

    def _input_bits(self) -> int:
        """Of how many input bits a letter is; 0 where letters have names."""
        try:
            return int(self.header.get("machine", {}).get("inputs", {}).get("bits", 0))
        except (AttributeError, TypeError, ValueError):
            return 0  # damaged: `token` says so

    @property
    def causal(self) -> bool:
        """Whether what it says after a letter depends on no later one."""
        return not isinstance(self.network, Transformer) or self.network.causal

    def side_by_side(self, words: Tensor | Words | Word | Sequence[Word]) -> Words:
        """Words in whatever form, as tokens with their lengths.

        Raises:
            KrohnError: If something is no letter.
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
            KrohnError: If a letter is unknown or the word is too long.
        """
        if is_one(word) and not len(word):
            return []
        words = self.side_by_side(word)
        answers = [
            list(name_answers(logits[:length], self.classes))
            for logits, length in zip(self(words), words.lengths.tolist(), strict=True)
        ]
        return answers[0] if is_one(word) else answers

    def words_before(
        self, call: str, words: Tensor | Words | Word | Sequence[Word]
    ) -> Words:
        """The words of a call that takes words, and then a variable.

        Args:
            call: The call as it is right, for who gives a variable first.
            words: As `forward` takes them.

        Raises:
            KrohnError: If something is no letter.
        """
        try:
            return self.side_by_side(words)
        except KrohnError:
            if not self.variables.has(words):
                raise
            raise KrohnError(
                f"{words!r} is a variable; the word comes first: {call.format(words)}"
            ) from None

    @property
    def variables(self) -> Variables:
        """Its variables: where they lie, and what they mean.

        Raises:
            ModelFileError: If the header is malformed there.
        """
        return Variables(self.file, self._directions)

    def places(self) -> dict[str, VariablePlace]:
        """Where every variable that is stored lies, by name (none for an RNN).

        Raises:
            ModelFileError: If the header is malformed there.
        """
        return self.variables.places

    def read(
        self, words: Tensor | Words | Word | Sequence[Word], variable: str
    ) -> Tensor:
        """The value of a variable at every position, read from the residual stream.

        A variable that is stored nowhere has the value that its readers compute from
        those that are.

        Args:
            words: As `forward` takes them.
            variable: Its name: one of `places`, or one that is computed on the way.

        Returns:
            ``(batch, time + 1)`` integers at the snapshot where the variable first
            stands; position 0 is BOS. Of matrices and vectors, their entries. Values
            behind the end of a shorter word mean nothing.

        Raises:
            KrohnError: If there is no such variable, something is no letter, or a word is
                too long.
        """
        variables = self.variables
        tokens = self.words_before("read(word, {!r})", words).tokens
        read = variables.inputs(variable, Choices(call="read(word)"))
        assert isinstance(self.network, Transformer)
        self.check_length(tokens.shape[1])
        streams = self.network.snapshots(tokens)
        values = {p.name: p.read(streams[p.snapshots[0]]) for p in read}
        if variable in values:
            return values[variable]
        return variables.compute(variable, values, tokens)


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
