"""Compiled models on a GPU: every answer right, and noise within what was certified.

    python benchmarks/gpu.py            (also runs on a CPU, where it checks the same)

For each model and attention back-end: adversarial words at full length and all short
words are run, and the residual stream is compared with the codes of the reference
interpreter; the largest deviation of any channel is printed beside its certified bound.
"""

import time

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

import krohn
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.transformer import Transformer
from krohn.program.statement import Channel, parse
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sampling import sample

MODELS = (
    ("S5", 100, "scan", "float32"),
    ("S5", 100, "scan", "bfloat16"),
    ("Grid5", 4096, "scan", "float32"),
    ("Grid5", 256, "scan", "bfloat16"),
    ("Grid9", 256, "scan", "float16"),
    ("Dyck4,2", 100, "scan", "float32"),
    ("C2", 160, "counter", "float32"),
    ("FlipFlop", 4096, "memory", "float32"),
    ("FlipFlop", 100, "memory", "bfloat16"),
    ("C2xC2xC2", 100, "product", "float32"),
)
BACKENDS: dict[str, list[SDPBackend]] = {
    "default": [],
    "math": [SDPBackend.MATH],
    "efficient": [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
    "flash": [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH],
}


def certified(file: ModelFile) -> dict[str, float]:
    """The certified noise of every channel that has any."""
    steps = file.header["evidence"]["steps"]
    return {c["channel"]: c["noise"] for s in steps for c in s.get("channels", [])}


def deviation(model: Model, file: ModelFile, words: Tensor) -> tuple[float, float]:
    """The largest deviation of a channel from its code, and the largest use of a bound."""
    assert isinstance(model.network, Transformer)
    claim = file.header["claim"]
    statement = parse(file.header["program"], len(model.letters), claim["length"])
    stream = model.network.snapshots(words)
    bounds, worst, used = certified(file), 0.0, 0.0
    for name, bound in bounds.items():
        channel = statement.channels[name]
        if channel.stored is not None:
            off = _off(channel, stream[channel.stored.born])
            worst = max(worst, off)
            used = max(used, off / bound if bound else float(off > 0) * 1e9)
    return worst, used


def _off(channel: Channel, stream: Tensor) -> float:
    """How far the channel is from the nearest code, which is the right one if close."""
    values = stream[..., list(channel.span)].double()
    return float((values - values.round()).abs().max())


def check(name: str, length: int, construction: str, dtype: str, device: str) -> None:
    """Compile one model and run it with every back-end."""
    compiled = krohn.compile(name, length, construction, dtype=dtype)
    machine = krohn.zoo(name)
    model = Model(compiled.file).to(device)
    rng = np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(0, len(machine.letters), (32, length)))
    for backend, allowed in BACKENDS.items():
        began = time.monotonic()
        with sdpa_kernel(allowed) if allowed else torch.no_grad():
            found = sample(model, machine, 256, length, seed=1)
            short = exhaustive(
                model, machine, min(length, _short(len(machine.letters)))
            )
            off, used = deviation(model, compiled.file, words.to(device))
        passed = found.passed and short.passed
        print(
            f"{name:9} T={length:<5} {construction:8} {dtype:9} {backend:10} "
            f"{'right' if passed else 'WRONG':6} words {found.words + short.words:>7,} "
            f"deviation {off:.1e} bound used {used:.1%} {time.monotonic() - began:.1f} s",
            flush=True,
        )


def _short(letters: int) -> int:
    return max(1, int(np.log(30_000) / np.log(letters)))


def main() -> None:
    """Run everything on the GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}")
    for model in MODELS:
        check(*model, device)


if __name__ == "__main__":
    main()
