"""Hugging Face: a model of its own with its configuration and its tokenizer.

What runs there is the network of `krohn.network.model` itself. Whoever imports this
module, as `krohn.huggingface.register` does, makes the automatic classes know the three,
so that no code comes from the directory that is read.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForTokenClassification,
    AutoTokenizer,
    GenerationConfig,
    GenerationMixin,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizer,
)
from transformers.modeling_outputs import CausalLMOutput
from transformers.utils import logging

from krohn.network.architecture import kind_of
from krohn.network.errors import ExportError
from krohn.network.exports import Destination, circuit
from krohn.network.exports.circuit import labels
from krohn.network.model import Model, Network
from krohn.network.modelfile import ModelFile
from krohn.network.sparse import is_index
from krohn.network.transformer import Transformer
from krohn.program.letter_tokenizer import BOS, blank
from krohn.program.strict_json import canonical

KIND = "krohn"
LETTERS = "letters.json"
END = "<eos>"
"""The last token of a text of a dynamic program."""


class KrohnConfig(PretrainedConfig):  # type: ignore[misc]
    """The configuration of a network, as far as running it needs.

    Attributes:
        architecture: That of the model file.
        letters: The names of the letters; ids are their indices, and the next id stands
            behind words that are shorter than others.
        states: The names of the states, if classes are states; `id2label` says what the
            machine shows in each, where it has outputs.
        claim: What the file claims: the longest word, the format, the start state.
        writes: Whether each logit stands for the letter that comes next, so that the
            network writes text; else it is one of `id2label`.
    """

    model_type = KIND

    def __init__(
        self,
        architecture: Mapping[str, Any] | None = None,
        letters: Sequence[str] = (),
        states: Sequence[str] = (),
        claim: Mapping[str, Any] | None = None,
        writes: bool = False,
        **rest: Any,
    ) -> None:
        self.architecture = dict(architecture or {})
        self.letters, self.states = list(letters), list(states)
        self.claim, self.writes = dict(claim or {}), writes
        self.vocab_size = len(letters) + 1
        # The library has no defaults for these; BOS is no token here.
        super().__init__(**{"bos_token_id": None, "eos_token_id": None, **rest})


class KrohnForCausalLM(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """A network from a model file: letters in, and logits after each of them.

    BOS is no letter: the network puts it in front by itself.
    """

    config_class = KrohnConfig
    main_input_name = "input_ids"

    def __init__(self, config: KrohnConfig) -> None:
        super().__init__(config)
        shape = config.architecture
        kind = kind_of(shape)
        shapes = kind.shapes(shape).items()
        tensors = {name: torch.zeros(size) for name, size in shapes}
        self.network: Network = kind.network(shape, tensors)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        output_hidden_states: bool | None = None,
        **_: Any,
    ) -> CausalLMOutput:
        """Logits ``(batch, time, labels)`` after each letter of ``input_ids``.

        Args:
            input_ids: ``(batch, time)`` letter indices, without BOS.
            attention_mask: ``(batch, time)``: 0 behind words that are shorter; by
                default where the token is none of a letter.
            labels: ``(batch, time)``: the right class after each letter, −100 for none;
                of networks that write, the text itself.
            output_hidden_states: Whether to give the residual stream at the letters, after
                the embedding and after every sublayer, as `krohn.network.model` numbers
                them.

        Raises:
            ValueError: If words are too long, or a token is no letter; if they are padded
                in front, or at all where heads see what comes later.
        """
        longest = self.network.length
        if longest is not None and input_ids.shape[1] > longest:
            raise ValueError(f"this network is for words of up to {longest} letters")
        letters = len(self.config.letters)
        if attention_mask is None:
            attention_mask = input_ids != letters
        _check_mask(attention_mask, getattr(self.network, "causal", True))
        input_ids = input_ids.where(attention_mask.bool(), 0)
        wrong = input_ids[(input_ids < 0) | (input_ids >= letters)]
        if len(wrong):
            raise ValueError(
                f"{int(wrong[0])} is not a letter: letters are 0 to {letters - 1}, and "
                "config.letters has their names"
            )
        logits = self.network(input_ids)
        seen = None
        if output_hidden_states:
            if not isinstance(self.network, Transformer):
                raise ValueError("only Transformers have a residual stream")
            seen = tuple(x[:, 1:] for x in self.network.snapshots(input_ids))
        loss = None
        if labels is not None:
            said = logits[:, :-1] if self.config.writes else logits
            right = labels[:, 1:] if self.config.writes else labels
            loss = nn.functional.cross_entropy(said.flatten(0, 1), right.flatten())
        return CausalLMOutput(loss=loss, logits=logits, hidden_states=seen)

    def generate(self, *inputs: Any, **options: Any) -> Any:
        """Write on after a prompt, as dynamic programs do.

        Raises:
            ValueError: If the network says classes and not letters.
        """
        if not self.config.writes:
            raise ValueError(
                "this network says the class of each prefix and writes no text; its logits "
                "are after each letter, and config.id2label has their names"
            )
        return super().generate(*inputs, **options)


def _check_mask(mask: Tensor, causal: bool) -> None:
    """Refuse padding that letters would see."""
    shown = mask.bool()
    if shown.all():
        return
    if not causal or (shown[:, 1:] & ~shown[:, :-1]).any():
        raise ValueError(
            "this network counts positions from the first letter: pad behind words, and "
            "not at all where its heads see what comes later"
        )


class KrohnTokenizer(PreTrainedTokenizer):  # type: ignore[misc]
    """Letters by name, with blanks between them; without, if each is one character.

    Where a name holds a blank, something else stands between letters
    (`krohn.program.letter_tokenizer.blank`).
    """

    vocab_files_names: ClassVar[dict[str, str]] = {"vocab_file": LETTERS}
    model_input_names: ClassVar[list[str]] = ["input_ids", "attention_mask"]

    def __init__(self, vocab_file: str, **rest: Any) -> None:
        names = json.loads(Path(vocab_file).read_text(encoding="utf-8"))
        self.letters: list[str] = names
        self.index = {name: i for i, name in enumerate(names)}
        self.between = blank(names)
        rest = {"pad_token": BOS, "split_special_tokens": True, **rest}
        super().__init__(**rest)

    @property
    def vocab_size(self) -> int:
        """How many letters there are."""
        return len(self.letters)

    def get_vocab(self) -> dict[str, int]:
        """The index of each letter."""
        return dict(self.index)

    def _tokenize(self, text: str, **ignored: Any) -> list[str]:
        if text in self.index:
            return [text]
        parts = text.split(None if self.between == " " else self.between)
        known = all(part in self.index for part in parts)
        return parts if known else [sign for part in parts for sign in part]

    def _convert_token_to_id(self, token: str) -> int:
        if token not in self.index:
            shown = " ".join(self.letters[:12])
            raise ValueError(f"{token!r} is not a letter; the letters are {shown}")
        return self.index[token]

    def _convert_id_to_token(self, index: int) -> str:
        return self.letters[index]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of a word."""
        return self.between.join(tokens)

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str]:
        """Write the letters."""
        name = f"{filename_prefix}-{LETTERS}" if filename_prefix else LETTERS
        path = Path(save_directory) / name
        path.write_text(json.dumps(self.letters, ensure_ascii=False), encoding="utf-8")
        return (str(path),)


def write(file: ModelFile, directory: Path, states: bool = False) -> None:
    """Write what ``from_pretrained`` reads, and the circuit.

    Args:
        file: The network.
        directory: Where to.
        states: Whether states are called by their names, though the machine has outputs.

    Raises:
        ExportError: If it is a network of another kind.
    """
    kind = kind_of(file.header["architecture"])
    if kind.answers != "classes" or any(is_index(name) for name in file.tensors):
        raise ExportError(
            "only Transformers and recurrent networks of up to 1,024 units go to "
            "Hugging Face"
        )
    source, names = Model(file), labels(file, states)
    about = file.header.get("source", {})
    config = KrohnConfig(
        architecture=file.header["architecture"],
        letters=names.letters,
        states=names.states,
        claim={"length": source.length, **file.header["claim"]},
        writes=about.get("kind") == "chain-of-thought",
        id2label=dict(enumerate(names.classes)),
        label2id={name: i for i, name in enumerate(names.classes)},
        dtype=file.precision.name,
        pad_token_id=len(names.letters),
        use_cache=False,
    )
    made = KrohnForCausalLM(config).to(getattr(torch, file.precision.name))
    made.network.load_state_dict(source.network.state_dict())
    if config.writes:
        made.generation_config = _decoding(source)
    with silent():
        made.save_pretrained(directory)
    listed = directory / LETTERS
    listed.write_text(json.dumps(names.letters, ensure_ascii=False), encoding="utf-8")
    ends = {"eos_token": END} if config.writes and END in names.letters else {}
    KrohnTokenizer(str(listed), model_max_length=source.length, **ends).save_pretrained(
        directory
    )
    circuit.write(file, directory)


def _decoding(source: Model) -> GenerationConfig:
    """Greedy, to the end of the text; nothing of earlier steps is kept."""
    assert source.length is not None
    end = source.letters.index(END) if END in source.letters else None
    return GenerationConfig(
        do_sample=False,
        use_cache=False,
        max_length=source.length + 1,
        eos_token_id=end,
        pad_token_id=end,
    )


def open_logits(directory: Path) -> Callable[[Tensor], Tensor]:
    """Letters to logits, by ``AutoModelForCausalLM``."""
    with silent():
        made = AutoModelForCausalLM.from_pretrained(directory, trust_remote_code=False)

    def logits(tokens: Tensor) -> Tensor:
        found = made(input_ids=tokens).logits
        assert isinstance(found, Tensor)
        return found

    return logits


@contextmanager
def silent() -> Iterator[None]:
    """Without the library's own progress bars, which know nothing of `--json`."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def proved(file: ModelFile, directory: Path) -> str:
    """Hold the tensors that were written against those of the file, bit by bit.

    Raises:
        ExportError: If one differs.
    """
    stored = load_file(directory / "model.safetensors")
    for name, tensor in Model(file).network.state_dict().items():
        if not torch.equal(stored[f"network.{name}"], tensor):
            raise ExportError(f"the tensor {name!r} was not written as it is")
    config = KrohnConfig.from_pretrained(directory)
    alike = canonical(config.architecture) == canonical(file.header["architecture"])
    circuit.check_said(file, config.letters, list(config.id2label.values()), alike)
    return (
        "the tensors are those of the file, run by the same code: what is proved of the "
        "file holds there (docs/exports.md)"
    )


DESTINATION = Destination(
    name="huggingface",
    title="Hugging Face",
    write=write,
    open=open_logits,
    arithmetic="the same: Krohn's own code runs there",
    proved=proved,
)

AutoConfig.register(KIND, KrohnConfig, exist_ok=True)
for automatic in (AutoModelForCausalLM, AutoModelForTokenClassification):
    automatic.register(KrohnConfig, KrohnForCausalLM, exist_ok=True)
AutoTokenizer.register(KrohnConfig, slow_tokenizer_class=KrohnTokenizer, exist_ok=True)
