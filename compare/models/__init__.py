"""Networks that are trained: GPT-2 with several kinds of positions, LSTM, compiled ones."""

from compare.models.network import Inside, Network

__all__ = ["Inside", "Network"]
