"""Opening a model file for use: words in, states out, and every channel by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from network import modelfile
from network.architecture import kind_of
from network.gated_recurrent import GatedRecurrent
from network.modelfile import ModelFile, ModelFileError
from network.rnn import Rnn
from network.sparse import is_index
from network.transformer import Transformer

Network = Transformer | Rnn | GatedRecurrent
NETWORKS: dict[str, type[Network]] = {
    "transformer": Transformer,
    "rnn": Rnn,
    "lstm": GatedRecurrent,
    "gru": GatedRecurrent,
}

NOT_FINITE = "(not finite)"
"""What a network is said to answer where a logit is infinite or not a number."""

TIED = "(tied)"
"""What a network is said to answer where two logits are the largest."""


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
    """

    channel: str
    dims: tuple[int, int]
    snapshots: tuple[int, int]
    code: str
    head: int | None
    operation: Mapping[str, Any]


class Model(nn.Module):
    """A network from a model file, with the alphabets of its machine.

    Attributes:
        network: The plain `Transformer`, `Rnn`, or `GatedRecurrent`.
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
            raise ModelFileError(
                f"it is a {kind.title}, which has laws instead of states; open it with "
                "network.generator.load"
            )
        self.letters, self.states, self.classes = _alphabets(file)
        self.length = modelfile.claimed_length(file.header)
        dtype = getattr(torch, file.precision.name)
        tensors = {
            n: torch.from_numpy(a).to(torch.int64 if is_index(n) else dtype)
            for n, a in file.tensors.items()
        }
        network = NETWORKS[architecture["kind"]]
        self.network: Network = network(architecture, tensors)
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

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``.

        Raises:
            ModelFileError: If the words are longer than the model has positions for.
        """
        if self.network.length is not None and tokens.shape[1] > self.network.length:
            raise ModelFileError(
                f"this model is for words of up to {self.network.length} letters; "
                f"compile it again with a larger length (-T {tokens.shape[1]})"
            )
        return self.network(tokens)  # type: ignore[no-any-return]

    def encode(self, word: Sequence[str]) -> Tensor:
        """``(1, length)`` token indices of a word given by the names of its letters.

        Where letters are classes of vectors of input bits, a vector is a letter too.

        Raises:
            ModelFileError: If a letter is unknown.
        """
        index = {letter: i for i, letter in enumerate(self.letters)}
        found = []
        for letter in word:
            at = index[letter] if letter in index else self._of_bits(letter)
            if at is None:
                shown = ", ".join(self.letters[:12])
                raise ModelFileError(
                    f"{letter!r} is not a letter; the letters are {shown}"
                )
            found.append(at)
        return torch.tensor([found], device=self.device).long()

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

    def run(self, word: Sequence[str]) -> list[str]:
        """The name of the state, or of the output, after each letter of ``word``.

        `NOT_FINITE` or `TIED` where the logits choose none.

        Raises:
            ModelFileError: If a letter is unknown or the word is too long.
        """
        if not word:
            return []
        return list(said(self(self.encode(word))[0], self.classes))

    def places(self) -> dict[str, VariablePlace]:
        """Where every stored channel lies, by name (none for an RNN).

        Raises:
            ModelFileError: If the header is malformed there.
        """
        try:
            stated = self.header.get("program", {}).get("channels", [])
            return {c["name"]: _place(c) for c in stated if "dims" in c}
        except (AttributeError, LookupError, TypeError) as error:
            raise ModelFileError(
                f"the file is damaged: its channels are malformed ({error!r})"
            ) from None

    def read(self, channel: str, tokens: Tensor) -> Tensor:
        """The value of a channel at every position, read from the residual stream.

        Args:
            channel: A name from `places`.
            tokens: ``(batch, time)`` letter indices.

        Returns:
            ``(batch, time + 1)`` integers at the snapshot where the channel first
            stands; position 0 is BOS.

        Raises:
            ModelFileError: If there is no such channel.
        """
        place = self.places().get(channel)
        if place is None or not isinstance(self.network, Transformer):
            raise ModelFileError(
                f"there is no channel {channel!r}; `places()` lists all of them"
            )
        stream = self.network.snapshots(tokens)[place.snapshots[0]]
        values = stream[..., place.dims[0] : place.dims[1]]
        if place.code == "one-hot":
            return values.argmax(dim=-1)
        return values[..., 0].round().long()


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


def _alphabets(
    file: ModelFile,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names of letters, states and classes, as many as the architecture has."""
    shape = file.header["architecture"]
    if "source" in file.header:
        letters = names(file.header["source"], "letters")
        said = "classes" if "classes" in file.header["source"] else "letters"
        machine = {"letters": letters, "states": names(file.header["source"], said)}
    else:
        machine = file.header["machine"]
    letters, states = (names(machine, key) for key in ("letters", "states"))
    classes = states
    if file.header["claim"].get("shows", "states") != "states":
        classes = names(machine.get("output"), "names")
    tokens = len(letters) + kind_of(shape).marks
    if shape["vocabulary"] != tokens or shape["outputs"] != len(classes):
        raise ModelFileError(
            "is damaged: its machine and its tensors differ in how many letters or states "
            "there are"
        )
    return letters, states, classes


def names(holder: object, key: str) -> tuple[str, ...]:
    """The names that an object of a header lists.

    Raises:
        ModelFileError: If it lists none.
    """
    found = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(found, list | tuple) or not all(
        isinstance(n, str) for n in found
    ):
        raise ModelFileError(f"is damaged: its machine has no list of {key}")
    return tuple(found)


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


def load(path: str | Path) -> Model:
    """Open a model file as a torch module, ready for inference.

    Raises:
        ModelFileError: If the file cannot be read or is damaged.
    """
    try:
        return Model(modelfile.read(path))
    except ModelFileError as error:
        text = str(error)
        named = text if text.startswith(str(path)) else f"{path}: {text}"
        raise ModelFileError(named) from None
