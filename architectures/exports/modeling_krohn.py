"""A network of Krohn as a model of Hugging Face's library, with its configuration.

An export carries this file and the modules that it needs
(`krohn.architectures.exports.export_huggingface`), so it imports no more than it runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from krohn.network.architecture import kind_of

KIND = "krohn"


class KrohnConfig(PretrainedConfig):  # type: ignore[misc]
    """The configuration of a network, as far as running it needs.

    Attributes:
        architecture: That of the model file.
        letters: The names of the letters; ids are their indices, and the next id stands
            behind words that are shorter than others.
        states: The names of the states, if classes are states; `id2label` says what the
            machine shows in each, where it has outputs.
        claim: What the file claims: the longest word, the format, the start state.
        digest: Of the claim.
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
        digest: str = "",
        writes: bool = False,
        **rest: Any,
    ) -> None:
        self.architecture = dict(architecture or {})
        self.letters, self.states = list(letters), list(states)
        self.claim, self.digest, self.writes = dict(claim or {}), digest, writes
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
        self.network: Any = kind.network(shape, tensors)
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

        Those at padding mean nothing.

        Args:
            input_ids: ``(batch, time)`` letter indices, without BOS.
            attention_mask: ``(batch, time)``: 0 behind words that are shorter; by
                default where the token is none of a letter.
            labels: ``(batch, time)``: the right class after each letter, −100 for none;
                of networks that write, the text itself. Those at padding do not count.
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
            if not hasattr(self.network, "snapshots"):
                raise ValueError("only Transformers have a residual stream")
            seen = tuple(x[:, 1:] for x in self.network.snapshots(input_ids))
        loss = None
        if labels is not None:
            predictions = logits[:, :-1] if self.config.writes else logits
            labels = labels.where(attention_mask.bool(), -100)
            right = labels[:, 1:] if self.config.writes else labels
            loss = nn.functional.cross_entropy(
                predictions.flatten(0, 1), right.flatten()
            )
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
        # Each pass reads the whole text: there is nothing that a cache could hold.
        return super().generate(*inputs, **{**options, "use_cache": False})


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
