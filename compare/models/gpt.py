"""GPT-2 as a network that answers after every letter."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.compare.models.architecture import Gpt, Specification
from krohn.compare.models.hugging_face import OWN, gpt2, gpt_neox
from krohn.compare.models.network import Inside, Network
from krohn.compare.models.positions import (
    NoPositions,
    Table,
    linear,
    penalties,
    sinusoidal,
)
from krohn.compare.models.recording import recording

SPREAD = 0.02
"""The standard deviation of GPT-2's weights at the start."""


class GptNetwork(Network):
    """Blocks of Hugging Face's GPT-2 (GPT-NeoX for rotary positions) with a read-out.

    Attributes:
        body: The model of the library.
        head: The read-out.
    """

    def __init__(self, specification: Specification, architecture: Gpt) -> None:
        super().__init__(specification)
        self.body = _body(architecture, specification)
        self.head = nn.Linear(architecture.width, specification.classes)
        nn.init.normal_(self.head.weight, std=SPREAD)
        nn.init.zeros_(self.head.bias)
        self.rotary = architecture.positions == "rope"
        self.penalised = architecture.heads * (architecture.positions == "alibi")
        limited = architecture.positions in ("sinusoidal", "linear", "learned")
        self.longest = specification.longest if limited else None

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        return self._read(letters, shift, None, keep=False)[0]

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds keys and values.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        return self._read(letters, shift, memory, keep=True)

    def _read(
        self, letters: Tensor, shift: int, memory: Any, keep: bool
    ) -> tuple[Tensor, Any]:
        known = 0 if memory is None else memory.get_seq_length()
        read = known + letters.shape[1]
        self._check(shift + read)
        places = torch.arange(shift + known, shift + read, device=letters.device)[None]
        mask = None
        if self.penalised:
            mask = penalties(self.penalised, read, letters.device)[:, :, known:]
        stream = self.body(
            letters,
            position_ids=places,
            attention_mask=mask,
            past_key_values=memory,
            use_cache=keep,
        )
        logits: Tensor = self.head(stream.last_hidden_state)
        return logits, stream.past_key_values

    def _check(self, end: int) -> None:
        if self.longest is not None and end > self.longest:
            raise KrohnError(
                f"this network has positions for {self.longest} letters and is asked for "
                f"{end}; build it with a larger longest word"
            )

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits and what led to them; in training, weights of attention after dropout.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        heads = [b.attention if self.rotary else b.attn for b in self._blocks]
        with (
            _explicit(self.body),
            recording(self.layers()) as hidden,
            recording(heads) as attended,
        ):
            logits = self(letters, shift)
        return Inside(logits, tuple(hidden), tuple(weights for _, weights in attended))

    def layers(self) -> tuple[nn.Module, ...]:
        """The dropout after the embedding, and each block."""
        first = self.body.emb_dropout if self.rotary else self.body.drop
        return (first, *self._blocks)

    @property
    def _blocks(self) -> Any:
        return self.body.layers if self.rotary else self.body.h


def _body(architecture: Gpt, specification: Specification) -> Any:
    """The model of the library, with the positions that are asked for."""
    letters, longest = specification.letters, specification.longest
    if architecture.positions == "rope":
        return gpt_neox(architecture, letters)
    if architecture.positions == "learned":
        return gpt2(architecture, letters, longest)
    body = gpt2(architecture, letters, 1)
    tables = {"sinusoidal": sinusoidal, "linear": linear}
    table = tables.get(architecture.positions)
    width = architecture.width
    made = None if table is None else Table(architecture.scale * table(longest, width))
    body.wpe = made or NoPositions()
    return body


@contextmanager
def _explicit(body: Any) -> Iterator[None]:
    """Attention whose weights are formed, instead of the fused kernel."""
    usual = body.config._attn_implementation
    if usual.startswith(OWN):  # these form their weights anyway
        yield
        return
    body.set_attn_implementation("eager")
    try:
        yield
    finally:
        body.set_attn_implementation(usual)
