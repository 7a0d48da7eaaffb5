"""Compiled networks on a GPU: answers right, and errors within those that are proved.

    python benchmarks/gpu.py    (on a CPU where there is no GPU)

Machines run words that are made to be bad and all short ones, with each back-end of
attention; the residual stream is compared with the codes of the variables. Networks that
say numbers are compared with the CPU: both may be off by the error that is proved. Texts
that networks write are those of the CPU.
"""

import shlex
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from tightness import FILES
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from typer.testing import CliRunner

import krohn
from krohn.cli import application
from krohn.network import modelfile
from krohn.network.directions import is_disguised
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.running_file import plain_network
from krohn.network.transformer import Transformer
from krohn.program.statement import Channel, parse
from krohn.source_kinds import of_file
from krohn.source_kinds.real_sequences import RealSequences
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sampling import sample

MACHINES = (
    "S5 -T 100",
    "S5 -T 100 --dtype bfloat16",
    "Grid5 -T 256",
    "Grid5 -T 256 --dtype bfloat16",
    "Grid9 -T 256 --dtype float16",
    "Dyck4,2 -T 100",
    "C2 -T 160 --construction counter",
    "FlipFlop -T 2048",
    "FlipFlop -T 100 --dtype bfloat16",
    "C2xC2xC2 -T 100 --construction product",
    "S4 -T 32 --disguise rotate",
    "S5 --arch rnn",
    "S4 --arch lstm",
    "S4 --arch gru",
)
TEXTS = {
    "EditDistance3,3": ["abc|bca", "aab|bbc", "cab|abc"],
    "LCS3,3": ["abc|acb", "abb|bab"],
}
BACKENDS: dict[str, list[SDPBackend]] = {
    "default": [],
    "math": [SDPBackend.MATH],
    "efficient": [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
    "flash": [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH],
}
MODEL = "model.safetensors"
WORDS, LONGEST = 256, 512
"""Words that are sampled, and their length where a network has no longest."""


def compiled(words: str, folder: str) -> ModelFile:
    """The file that `krohn compile` makes."""
    path = str(Path(folder, MODEL))
    done = CliRunner().invoke(
        application(), ("compile", *shlex.split(words), "-o", path)
    )
    if done.exit_code:
        raise RuntimeError(f"krohn compile {words}: {done.output}") from done.exception
    return modelfile.read(path)


def machine(device: str, name: str) -> Row:
    """A machine's network with every back-end of attention; the worst is told."""
    with TemporaryDirectory() as folder:
        file = compiled(name, folder)
    model, source = Model(file).to(device), krohn.zoo(name.split()[0])
    length, letters = model.longest or LONGEST, len(model.letters)
    random = np.random.default_rng(0).integers(0, letters, (WORDS, length))
    began, runs, apart = monotonic(), [], []
    network = model.network if isinstance(model.network, Transformer) else None
    for allowed in BACKENDS.values() if network else [[]]:
        with sdpa_kernel(allowed) if allowed else torch.no_grad():
            runs.append(sample(model, source, WORDS, length, seed=1))
            runs.append(exhaustive(model, source, min(length, _short(letters))))
            if network and not is_disguised(file):
                tokens = torch.from_numpy(random).to(device)
                apart.append(deviation(network, file, tokens))
    return {
        "network": name,
        "words": sum(run.words for run in runs),
        "right": all(run.has_passed for run in runs),
        "deviation": max((off for off, _ in apart), default=None),
        "share of its bound": max((used for _, used in apart), default=None),
        "seconds": monotonic() - began,
    }


def deviation(
    network: Transformer, file: ModelFile, words: Tensor
) -> tuple[float, float]:
    """The largest deviation of a variable from its code, and the largest use of a bound."""
    steps = file.header["evidence"]["steps"]
    bounds = {c["channel"]: c["noise"] for s in steps for c in s.get("channels", [])}
    letters, length = file.header["machine"]["letters"], file.header["claim"]["length"]
    statement = parse(file.header["program"], len(letters), length)
    stream = network.snapshots(words)
    worst, used = 0.0, 0.0
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


def _short(letters: int) -> int:
    return max(1, int(np.log(30_000) / np.log(letters)))


def numbers(device: str, job: tuple[str, str]) -> Row:
    """A network that says numbers, there and on the CPU."""
    kind, name = job
    with TemporaryDirectory() as folder:
        file = compiled(name, folder)
    rng, claim, read = np.random.default_rng(0), file.header["claim"], of_file(file)
    if isinstance(read, RealSequences):
        inputs = torch.from_numpy(
            file.precision.round(read.sample_inputs(file, WORDS, rng))
        )
        inputs = inputs.to(getattr(torch, file.precision.name))
        here, there = plain_network(file), plain_network(file).to(device)
    else:
        here, there = Model(file).network, Model(file).network.to(device)
        letters, length = len(Model(file).letters), claim["length"] or LONGEST
        inputs = torch.from_numpy(rng.integers(0, letters, (WORDS, length)))
    with torch.no_grad():
        apart = (there(inputs.to(device)).cpu().double() - here(inputs).double()).abs()
    worst, error = float(apart.max()), float(claim["error"])
    return {
        "network": name,
        "kind": kind,
        "format": file.precision.name,
        "proved": error,
        "apart from the CPU": worst,
        "within twice the error": worst <= 2 * error,
    }


def texts(device: str, name: str) -> Row:
    """A network that writes texts, there and on the CPU."""
    with TemporaryDirectory() as folder:
        compiled(name, folder)
        path = str(Path(folder, MODEL))
        prompts = TEXTS[name]
        here = krohn.load(path).write(prompts)
        there = krohn.load(path, device=device).write(prompts)
    return {
        "network": name,
        "prompts": len(prompts),
        "same texts": [t.answer for t in here] == [t.answer for t in there],
    }


def main() -> None:
    """Run everything on the GPU if there is one."""
    options = parser(__doc__)
    chosen = options.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "the CPU"
    about = f"On {name}, torch {torch.__version__}."
    kinds = [(kind, n) for kind, several in FILES.items() for n in several]
    publish(
        [
            Table("Machines", each(partial(machine, device), MACHINES), about),
            Table("Numbers", each(partial(numbers, device), kinds), about),
            Table("Texts", each(partial(texts, device), list(TEXTS)), about),
        ],
        chosen,
    )


if __name__ == "__main__":
    main()
