"""Learning in context: what is proved beside what is measured, and where errors come from.

python benchmarks/in_context.py            the parts of the error, on a hidden Markov model
python benchmarks/in_context.py --proved   the errors of networks beside gradient descent
"""

import argparse
import sys
from time import perf_counter

import numpy as np
import torch

from compiler.in_context import Rows, in_context
from network.modelfile import ModelFile
from network.precision import PRECISIONS
from network.transformer import Transformer
from sources.hidden_markov import HiddenMarkovModel
from sources.in_context import (
    InContext,
    condition,
    exactly,
    named,
    regression,
)
from sources.in_context.error_split import prompts_of, split
from verify.proof import shown_of

PROMPTS = 400
CASES = (
    *(f"InContext3,{window}:demonstrations=64,steps=32" for window in (1, 2, 3)),
    *(f"InContext3,2:demonstrations={n},steps=32" for n in (8, 16, 256, 1000)),
    *(f"InContext3,2:demonstrations=64,steps={steps}" for steps in (2, 8, 128)),
    "InContext3,1:demonstrations=64,steps=32,ahead=2",
)
NETWORKS = (
    "InContext3,1:demonstrations=11",
    "InContext3,2",
    "InContext3,2:demonstrations=13",
    "InContext3,2:demonstrations=13,steps=64",
    "InContext3,3:demonstrations=60,steps=20",
    "InContext3,2:demonstrations=11,ahead=2",
    "InContext2,2:demonstrations=9,ahead=3",
)


def source_of(name: str) -> InContext:
    """The source of a name."""
    found = named(name)
    assert found is not None
    return found


def sticky() -> HiddenMarkovModel:
    """4 states that last some letters, and 3 letters, so that no letter tells its state.

    A state stays with probability 0.7, and else goes to the next one in a circle. State s
    says letter s mod 3 with probability 0.85. It begins in its stationary law, which is
    uniform: so windows are alike at all times.
    """
    step = 0.7 * np.eye(4) + 0.3 * np.roll(np.eye(4), 1, axis=0)
    say = 0.075 + 0.775 * np.eye(3)[:, np.arange(4) % 3]
    return HiddenMarkovModel.of("sticky", step, say, np.full(4, 0.25))


def parts() -> None:
    """Where the law of the next letter is off from the true one, in the mean."""
    model = sticky()
    print("| source | memory | linear | generalisation | optimisation | total | κ |")
    print("|---|---|---|---|---|---|---|")
    for name in CASES:
        source = source_of(name)
        prompts = prompts_of(source, model, PROMPTS, np.random.default_rng(0))
        found = split(source, model, prompts)
        kappa = float(np.median(condition(regression(source, prompts))))
        told = (found.memory, found.linear, found.generalisation, found.optimisation)
        numbers = " | ".join(f"{x:.4f}" for x in (*told, found.total))
        print(f"| `{name}` | {numbers} | {kappa:.0f} |")


def measured(file: ModelFile, source: InContext, count: int) -> float:
    """The largest error of a network over random prompts, beside exact fractions."""
    dtype = getattr(torch, file.precision.name)
    held = {name: torch.tensor(t).to(dtype) for name, t in file.tensors.items()}
    network = Transformer(file.header["architecture"], held).eval()
    prompts = source.sampled(count, np.random.default_rng(0))
    tokens = torch.tensor(source.laid_out(prompts))
    found = torch.cat([network(part)[:, -1] for part in torch.split(tokens, 8)])
    right = [[float(x) for x in exactly(source, prompt)] for prompt in prompts]
    return float(np.abs(found.double().numpy() - right).max())


def proved() -> None:
    """The error that is shown of networks, and the largest of 48 prompts."""
    print("| source | format | layers | width | heads | measured | proved | × | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in NETWORKS:
        for dtype in ("float64", "float32"):
            source, precision = source_of(name), PRECISIONS[dtype]
            network = in_context(source, precision)
            claim = {"kind": "within", "length": source.length, "error": 1e300}
            header = {"source": source.to_wire(), "claim": claim}
            header["architecture"] = network.architecture
            tensors = {n: precision.round(t) for n, t in network.tensors.items()}
            file, began = ModelFile(header, tensors, precision), perf_counter()
            error = shown_of(file).facts()["error"]
            seconds, worst = perf_counter() - began, measured(file, source, 48)
            shape = f"{len(network.architecture['blocks'])} | {Rows.of(source).width}"
            ratio = f"{error / worst:.0f}" if worst else "–"
            print(
                f"| `{name}` | {dtype} | {shape} | {2 * source.targets} | {worst:.1e} | "
                f"{error:.1e} | {ratio} | {seconds:.2f} |"
            )
            sys.stdout.flush()


def main() -> None:
    """Print the tables of docs/in-context.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--proved", action="store_true", help="networks and their proofs"
    )
    torch.set_num_threads(1)
    with torch.inference_mode():
        (proved if parser.parse_args().proved else parts)()


if __name__ == "__main__":
    main()
