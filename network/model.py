"""Opening a model file for use: words in, states out, and every channel by name."""

from collections.abc import Sequence
from typing import Literal, cast, overload

import torch
from torch import Tensor, nn

from krohn.network import modelfile
from krohn.network.alphabets import alphabets
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile, ModelFileError
from krohn.network.places import VariablePlace, places
from krohn.network.sparse import is_index
from krohn.network.stepping import Stepping
from krohn.network.transformer import Transformer
from krohn.network.words import Word, Words, check_tokens, found, is_one, padded

Network = Transformer | Stepping

_OTHERS = {
    "laws": ("laws instead of states", "it with krohn.network.generator.load"),
    "reals": (
        "vectors instead of letters",
        "its file with krohn.network.real_model.real_network(krohn.network."
        "modelfile.read(path))",
    ),
}

NOT_FINITE = "(not finite)"
"""What a network is said to answer where a logit is infinite or not a number."""

TIED = "(tied)"
"""What a network is said to answer where two logits are the largest."""


class Model(nn.Module):
    """A network from a model file, with the alphabets of its machine.

    Attributes:
        network: The plain `Transformer`, or recurrent network.
        header: Everything that the file states about it.
        letters: The letters by name; tokens are their indices.
        states: The states by name.
        classes: What the logits stand for, by name: the states, or the outputs of the
            machine if the file claims to say these.
        length: The longest word it is claimed for; None if there is no limit.
    """

    def __init__(self, file: ModelFile) -> None:
        super().__init__()
        architecture = file.header["architecture"]
        kind = kind_of(architecture)
        if kind.answers != "classes":
            says, opens = _OTHERS[kind.answers]
            raise ModelFileError(f"it is {kind.called}, which has {says}; open {opens}")
        self.letters, self.states, self.classes = alphabets(file)
        self.length = modelfile.claimed_length(file.header)
        dtype = getattr(torch, file.precision.name)
        tensors = {
            n: torch.from_numpy(a).to(torch.int64 if is_index(n) else dtype)
            for n, a in file.tensors.items()
        }
        self.network: Network = kind.network(architecture, tensors)
        self.header = file.header
        self.eval()

    @property
    def shows(self) -> Literal["states", "outputs"]:
        """What the classes are: the machine's states, or their outputs."""
        stated = self.header["claim"].get("shows", "states")
        return "states" if stated == "states" else "outputs"

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
        tokens = self.side_by_side(words).tokens
        self.check_length(tokens.shape[1])
        return self.network(tokens)  # type: ignore[no-any-return]

    def check_length(self, length: int) -> None:
        """Refuse words that are too long.

        Raises:
            ModelFileError: If the model has no positions for them.
        """
        if self.network.length is not None and length > self.network.length:
            raise ModelFileError(
                f"this model is for words of up to {self.network.length} letters; "
                f"compile it again with a larger length (-T {length})"
            )

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
        index = {letter: i for i, letter in enumerate(self.letters)}

        def token(letter: str) -> int | None:
            return index[letter] if letter in index else self._of_bits(letter)

        if is_one(word):
            one = found(cast("Word", word), token, self.letters)
            return torch.tensor([one], device=self.device).long()
        told = [
            found(each, token, self.letters, f" of word {i}")
            for i, each in enumerate(word, start=1)
        ]
        if len({len(each) for each in told}) > 1 and not self.causal:
            raise ModelFileError(
                "its heads see the whole word, so that words of different lengths cannot "
                "be run side by side; run them one by one"
            )
        return padded(told, self.device)

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
            list(said(logits[:length], self.classes))
            for logits, length in zip(self(words), words.lengths.tolist(), strict=True)
        ]
        return answers[0] if is_one(word) else answers

    def places(self) -> dict[str, VariablePlace]:
        """Where every stored channel lies, by name (none for an RNN).

        Raises:
            ModelFileError: If the header is malformed there.
        """
        return places(self.header)

    def read(self, channel: str, tokens: Tensor) -> Tensor:
        """The value of a channel at every position, read from the residual stream.

        Args:
            channel: A name from `places`.
            tokens: ``(batch, time)`` letter indices.

        Returns:
            ``(batch, time + 1)`` integers at the snapshot where the channel first
            stands; position 0 is BOS. Of matrices and vectors, their entries.

        Raises:
            ModelFileError: If there is no such channel.
        """
        place = self.places().get(channel)
        if place is None or not isinstance(self.network, Transformer):
            raise ModelFileError(
                f"there is no channel {channel!r}; `places()` lists all of them"
            )
        return place.read(self.network.snapshots(tokens)[place.snapshots[0]])


def said(logits: Tensor, classes: Sequence[str]) -> tuple[str, ...]:
    """The names of the classes that logits ``(count, classes)`` choose.

    `NOT_FINITE` where a logit is infinite or not a number, `TIED` where two are the
    largest: neither is an answer.
    """
    tied = (logits == logits.amax(dim=-1, keepdim=True)).sum(dim=-1) > 1
    chosen = torch.where(tied, len(classes), logits.argmax(dim=-1))
    finite = logits.isfinite().all(dim=-1)
    chosen = torch.where(finite, chosen, len(classes) + 1)
    names = (*classes, TIED, NOT_FINITE)
    return tuple(names[q] for q in chosen.tolist())
