"""LSTMs and GRUs that a model file describes: torch's own modules with its tensors."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from krohn.network.cache import Cache
from krohn.network.full_precision import in_full
from krohn.network.stepping import Parts, Stepping

MODULES = {"lstm": nn.LSTM, "gru": nn.GRU}
PREFIX = "recurrent."
"""What the tensors of torch's module are called by, before their own names."""


class GatedRecurrent(Stepping):
    """One layer that reads letters as unit vectors, and logits h_t R + c.

    What it remembers is h, and of an LSTM the cell c, too. No limit on the length.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.letters: int = architecture["vocabulary"]
        self.hidden: int = architecture["hidden"]
        start = [n for n in ("start.hidden", "start.cell") if n in tensors]
        self.initial = nn.ParameterList([nn.Parameter(tensors[n]) for n in start])
        self.weight = nn.Parameter(tensors["unembed.weight"])
        self.bias = nn.Parameter(tensors["unembed.bias"])
        module = MODULES[architecture["kind"]]
        self.recurrent: nn.LSTM | nn.GRU = module(
            self.letters, self.hidden, batch_first=True, dtype=self.weight.dtype
        )
        own = {n.removeprefix(PREFIX): t for n, t in tensors.items() if PREFIX in n}
        self.recurrent.load_state_dict(own)
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: h ``(batch, hidden)`` before a word, and the cell."""
        return Cache(0, tuple(part.expand(batch, -1) for part in self.initial))

    def heard(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """H ``(batch, hidden)`` after a letter, and what is remembered then."""
        h, after = self._read(tokens[:, None], parts)
        return h[:, 0], after

    def said(self, outputs: Tensor) -> Tensor:
        """Logits of h."""
        return outputs @ self.weight + self.bias

    def _read(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """All h ``(batch, time, hidden)``, and what is remembered at the end."""
        x = nn.functional.one_hot(tokens, self.letters).to(self.weight.dtype)
        held = tuple(part[None].contiguous() for part in parts)
        h, last = self.recurrent(x, held if len(held) > 1 else held[0])
        return h, tuple(p[0] for p in (last if len(held) > 1 else [last]))

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 16 * self.hidden + 6 * self.weight.shape[1] + self.letters

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``."""
        h, _ = self._read(tokens, self.start(tokens.shape[0]).parts)
        return self.said(h)
