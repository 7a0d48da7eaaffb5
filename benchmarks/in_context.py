"""Learning in context: what is proved and what is measured, and where errors come from."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from error_split import prompts_of, split
from report import Row, Table, each, parser, publish

from krohn.kinds.hidden_markov.commands_facts import gamma
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_structure import observation_operator
from krohn.kinds.in_context.build import (
    Rows,
    in_context,
)
from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
    condition,
    descent,
    exactly,
    find_by_name,
    regression,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.transformer import Transformer
from krohn.verify.proof import shown_of

PROMPTS, CLIMB, WORK = 400, 100, 10**7
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
    found = find_by_name(name)
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
    return HiddenMarkovModel.of("sticky", step, say, before=np.full(4, 0.25))


def parts(name: str) -> Row:
    """Where the law of the next letter is off from the true one, in the mean."""
    source, model = source_of(name), sticky()
    prompts = prompts_of(source, model, PROMPTS, np.random.default_rng(0))
    found = split(source, model, prompts)
    return {
        "source": f"`{name}`",
        "memory": found.memory,
        "linear": found.linear,
        "generalisation": found.generalisation,
        "optimisation": found.optimisation,
        "total": found.total,
        "κ": float(np.median(condition(regression(source, prompts)))),
    }


@dataclass(frozen=True)
class Runner:
    """A network beside gradient descent.

    Attributes:
        source: What it learns in context.
        network: The network.
    """

    source: InContext
    network: Transformer

    @classmethod
    def of(cls, file: ModelFile, source: InContext) -> "Runner":
        """The runner of a file."""
        dtype = getattr(torch, file.precision.name)
        held = {name: torch.tensor(t).to(dtype) for name, t in file.tensors.items()}
        return cls(source, Transformer(file.header["architecture"], held).eval())

    def laws(self, prompts: list[Prompt]) -> FloatArray:
        """``(prompts, p^M)``: what it says at the last position."""
        tokens = torch.tensor(self.source.laid_out(prompts))
        found = [self.network(part)[:, -1] for part in torch.split(tokens, 8)]
        return np.asarray(torch.cat(found).double().numpy())

    def measured(self, count: int) -> float:
        """The largest error over random prompts, beside exact fractions."""
        prompts = self.source.sample_prompts(count, np.random.default_rng(0))
        right = [[float(x) for x in exactly(self.source, prompt)] for prompt in prompts]
        return float(np.abs(self.laws(prompts) - right).max())

    def climbed(self, steps: int) -> float:
        """The largest error that a climb finds: letters of 32 prompts are changed.

        It is held against float64, and so is for float32 only.
        """
        random = np.random.default_rng(0)
        prompts = self.source.sample_prompts(32, random)
        worst = self._errors(prompts)
        for _ in range(steps):
            tried = [self._changed(prompt, random) for prompt in prompts]
            errors = self._errors(tried)
            both = zip(prompts, tried, errors > worst, strict=True)
            prompts = [new if better else old for old, new, better in both]
            worst = np.maximum(worst, errors)
        return float(worst.max())

    def _errors(self, prompts: list[Prompt]) -> FloatArray:
        problem = regression(self.source, prompts)
        right = (descent(problem) @ problem.asked[:, :, None])[:, :, 0]
        return np.asarray(np.abs(self.laws(prompts) - right).max(axis=1))

    def _changed(self, prompt: Prompt, random: np.random.Generator) -> Prompt:
        """Some letters are others, or one demonstration is another's copy."""
        shown = [list(part) for part in prompt.demonstrations]
        history = list(prompt.history)
        for _ in range(random.integers(1, 4)):
            part = (
                shown[random.integers(len(shown))] if random.random() < 0.8 else history
            )
            part[random.integers(len(part))] = int(random.integers(self.source.count))
        if random.random() < 0.3:
            at, of = random.integers(len(shown), size=2)
            shown[at] = list(shown[of])
        return Prompt(tuple(map(tuple, shown)), tuple(history))


def proved(case: tuple[str, str]) -> Row:
    """The error that is shown of a network, and the largest that is found."""
    name, dtype = case
    source, precision = source_of(name), PRECISIONS[dtype]
    network = in_context(source, precision)
    claim = {"kind": "within", "length": source.length, "error": 1e300}
    header = {"source": source.to_wire(), "claim": claim}
    header["architecture"] = network.architecture
    tensors = {n: precision.round(t) for n, t in network.tensors.items()}
    file = ModelFile(header, tensors, precision)
    error, runner = shown_of(file).facts()["error"], Runner.of(file, source)
    layers, first, climbed = (
        len(network.architecture["blocks"]),
        runner.measured(48),
        None,
    )
    if dtype == "float32":
        climbed = runner.climbed(min(CLIMB, WORK // (source.length**2 * layers)))
    worst = max(first, climbed or 0)
    return {
        "source": f"`{name}`",
        "format": dtype,
        "layers": layers,
        "width": Rows.of(source).width,
        "heads": 2 * source.targets,
        "measured": first,
        "climbed": climbed,
        "proved": error,
        "×": error / worst if worst else None,
    }


@torch.inference_mode()
def main() -> None:
    """Print the tables."""
    options = parser(__doc__).parse_args()
    torch.set_num_threads(1)
    networks = list(product(NETWORKS, ("float64", "float32")))
    seen = ", ".join(
        f"{gamma(observation_operator(sticky(), m)):.3f}" for m in (1, 2, 3)
    )
    tables = [
        Table("networks", each(proved, networks)),
        Table(
            "parts of the error", each(parts, CASES), f"γ of 1, 2, 3 letters: {seen}"
        ),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
