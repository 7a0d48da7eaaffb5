"""Train a small Transformer and an LSTM, and ask for the first word that they get wrong.

    python examples/independent.py

Both learn to follow a flip-flop on random words of 24 letters, in some seconds each, and
are then examined on words of up to 100 letters. Krohn knows nothing of them but their
answers. What it finds depends on the training; the word that it prints was run again.
"""

import time

import numpy as np
import torch
from torch import Tensor, nn

import krohn

MACHINE = krohn.zoo("FlipFlop")
TRAINED, EXAMINED, STEPS, BATCH, WIDTH = 24, 100, 400, 32, 32


class Transformer(nn.Module):
    """Two causal layers with learned positions, LayerNorm and GELU, as GPT-2 has them."""

    def __init__(self) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(MACHINE.letters), WIDTH)
        self.position = nn.Embedding(EXAMINED, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(WIDTH, len(MACHINE.states))

    def forward(self, words: Tensor) -> Tensor:
        """Logits ``(batch, T, states)`` for letter indices ``(batch, T)``."""
        x = self.letter(words) + self.position.weight[: words.shape[1]]
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        logits: Tensor = self.out(self.layers(x, mask, is_causal=True))
        return logits


class Lstm(nn.Module):
    """One layer."""

    def __init__(self) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(MACHINE.letters), WIDTH)
        self.layer = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.out = nn.Linear(WIDTH, len(MACHINE.states))

    def forward(self, words: Tensor) -> Tensor:
        """Logits ``(batch, T, states)`` for letter indices ``(batch, T)``."""
        logits: Tensor = self.out(self.layer(self.letter(words))[0])
        return logits


def train(model: nn.Module, rng: np.random.Generator) -> float:
    """Fit a network to random words; returns the share of wrong answers at the end."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        words = rng.integers(len(MACHINE.letters), size=(BATCH, TRAINED))
        states = MACHINE.semiautomaton.trace(words, MACHINE.start)
        logits = model(torch.from_numpy(words))
        right = torch.from_numpy(states)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), right.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return float((logits.argmax(dim=-1) != right).float().mean())


def main() -> None:
    """Train, examine, report."""
    torch.set_num_threads(1)
    for kind in (Transformer, Lstm):
        torch.manual_seed(0)
        began, model = time.monotonic(), kind()
        wrong = train(model, np.random.default_rng(0))
        seconds = time.monotonic() - began
        print(f"{kind.__name__}: trained in {seconds:.0f} s, {wrong:.2%} wrong at last")
        report = krohn.examine(model, MACHINE, EXAMINED)
        print(f"  {report.verdict} ({report.seconds:.1f} s): {report.reason}")
        if report.counterexample is not None:
            print(f"  word      {' '.join(report.counterexample.word)}")
            print(f"  expected  {report.counterexample.expected[-1]}")
            print(f"  actual    {report.counterexample.actual[-1]}")
            print(f"  {report.minimal.summary if report.minimal else ''}")
        for head in report.heads:
            print(f"  head {head.summary()}")


if __name__ == "__main__":
    main()
