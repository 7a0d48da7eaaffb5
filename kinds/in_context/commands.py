"""Learning in context, in the commands: prompts in, the law of the next letters out."""

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.kinds.in_context import source as contexts
from krohn.kinds.in_context.build import (
    NAME,
    in_context,
)
from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
)
from krohn.kinds.in_context.statement import DELIMITER, StatedInContext
from krohn.network.architecture import parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Opened
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.user_input import read_text
from krohn.program.word_texts import join_letters
from krohn.program.wording import at_most
from krohn.report import Progress
from krohn.schemas.parts import Dtype
from krohn.source_kinds.base import Built, ReadableKind, names_in
from krohn.source_kinds.kind import Answers, Whole
from krohn.source_kinds.real_outputs import Reference, in_batches, judge_outputs
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PROMPTS, SCORES = 2**18, 2**24
LARGEST_PROMPT = 2**20
"""In bytes, of a file; the largest that is read by any network is far smaller."""


class InContextFacts(TypedDict):
    """A network that learns in context by gradient descent.

    Attributes:
        letters: The letters of prompts.
        demonstrations: How many demonstrations a prompt has, and their length.
        history: How many letters follow the demonstrations.
        window: The letters from which the next ones are predicted.
        ahead: How many letters are predicted.
        steps: The steps of gradient descent.
        step_size: The size of a step.
    """

    name: str
    kind: Literal["context-learner"]
    claim: Literal["within"]
    error: float
    letters: str
    demonstrations: str
    history: str
    window: int
    ahead: int
    steps: int
    step_size: float
    length: int
    construction: str
    layers: int
    heads: int
    d_model: int
    parameters: int
    dtype: Dtype


class InContexts(ReadableKind[InContext]):
    """Gradient descent on the windows of a prompt."""

    wire = StatedInContext.kind
    facts_types = (InContextFacts,)
    stated_type = StatedInContext
    source = InContext
    of_name = staticmethod(contexts.find_by_name)
    claim = "within"
    takes = frozenset()
    spelled = False
    measured = True
    formats = ("float64",)

    def draw_file(self, file: ModelFile) -> "Figure":
        """Refused: the dimensions of these networks are in no Program."""
        from krohn.drawing import DrawingError

        raise DrawingError(
            "a network that learns in context has no Program, and no picture; "
            "docs/kinds/in_context.md says what its dimensions are"
        )

    def build(self, source: InContext, asked: CompileOptions) -> Built:
        """The network, and the error that the checker shows of it."""
        options = asked.options
        if asked.length is not None:
            raise CompileError(
                f"the name of a source that learns in context says how long its prompts "
                f"are ({source.length} tokens); leave -T out"
            )
        network = in_context(source, options.precision)
        built = CompiledNetwork(NAME, network, {}, None)
        try:
            return built, self.prove_claim(
                source, built, {"length": source.length}, options
            )
        except Refused as reason:
            raise CompileError(
                f"{source.name} cannot be computed in {options.precision.name} within "
                f"any error that can be shown: {reason}"
                f"{self.advice(source, self.needs_float64(source, asked))}"
            ) from None

    def facts(self, source: InContext, asked: CompileOptions) -> dict[str, Any]:
        """Which prompts, how many steps of which size, and what its network needs."""
        built, claim = self.build(source, asked)
        shape = built.network.architecture
        return {
            "error": claim["error"],
            "letters": join_letters(source.letters),
            "demonstrations": f"1 to {source.demonstrations}, of {source.segment} letters",
            "history": f"{source.window} to {source.history} letters",
            "window": source.window,
            "ahead": source.ahead,
            "steps": source.steps,
            "step_size": 1 / source.window,
            "length": source.length,
            "construction": NAME,
            "layers": len(shape["blocks"]),
            "heads": max(block["heads"] for block in shape["blocks"]),
            "d_model": shape["d_model"],
            "parameters": parameters(shape),
        }

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The law that the network says, its error, and κ of the prompt."""
        source = self.of_file(file)
        prompt = _prompt(source, words)
        laws = _laws(file, source, [prompt], network)
        rows = dict(zip(source.classes, laws[0].tolist(), strict=True))
        following = contexts.marginal(source, laws)[0].tolist()
        kappa = float(contexts.condition(contexts.regression(source, [prompt]))[0])
        left = max(1 - 1 / kappa, 0.0) ** source.steps
        lines = [f"{name:>{2 * source.ahead}}  {x: .9f}" for name, x in rows.items()]
        if source.ahead > 1:
            lines += ["the next letter alone:"]
            lines += [
                f"{name:>{2 * source.ahead}}  {x: .9f}"
                for name, x in zip(source.letters, following, strict=False)
            ]
        notes = [
            f"κ of this prompt is {kappa:.3g}: after {source.steps} steps at most "
            f"{at_most(left, 2)} of the way to least squares is left",
        ]
        result = {
            "word": list(source.write_prompt(prompt)),
            "law": rows,
            "next": dict(zip(source.letters[:-1], following, strict=True)),
            "condition": kappa,
            "left": left,
            "shown": "\n".join([*lines, *notes]),
        }
        return Answers(result, [source.length])

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> list[Prompt]:
        """Random prompts, among them some that show one demonstration n times."""
        return self.of_file(file).sample_prompts(count, rng)

    def list_inputs(self, file: ModelFile, length: int) -> list[Prompt]:
        """Every prompt of up to so many letters, without its delimiters."""
        source = self.of_file(file)
        shapes = [
            (shown, history)
            for shown in range(1, source.demonstrations + 1)
            for history in range(source.window, source.history + 1)
            if shown * source.segment + history <= length
        ]
        sizes = [shown * source.segment + history for shown, history in shapes]
        if not sizes:
            least = source.segment + source.window
            raise KrohnError(f"a prompt has at least {least} letters; say --sample N")
        total = sum(source.count**size for size in sizes)
        if total > MOST_PROMPTS:
            raise KrohnError(
                f"there are {total:,} prompts of up to {length} letters, too many to run; "
                "say --sample N"
            )
        return [
            _split_prompt(source, letters, shown)
            for (shown, _), size in zip(shapes, sizes, strict=True)
            for letters in product(range(source.count), repeat=size)
        ]

    def simulate_inputs(
        self, file: ModelFile, inputs: list[Prompt], progress: Progress
    ) -> Simulation:
        """Hold the laws that are said after prompts against gradient descent."""
        return _simulate_prompts(file, self.of_file(file), inputs, progress)

    def whole(
        self, file: ModelFile, many: Callable[[int], int], rng: np.random.Generator
    ) -> Whole:
        """Random prompts; other words are answered by zeros."""
        source = self.of_file(file)
        prompts = self.sample_inputs(file, many(source.length), rng)

        def rows(some: slice) -> IntArray:
            return source.laid_out(prompts[some])

        return Whole(source.length, len(prompts), rows, None, source.letters)


def _split_prompt(source: InContext, letters: tuple[int, ...], shown: int) -> Prompt:
    """A prompt of so many demonstrations, from its letters in a row."""
    size = source.segment
    parts = tuple(letters[k * size :][:size] for k in range(shown))
    return Prompt(parts, letters[shown * size :])


def _prompt(source: InContext, words: list[str]) -> Prompt:
    """A prompt from a file, a part a line, or from words with delimiters between parts.

    Raises:
        KrohnError: If it is none that the network reads; the message says why.
    """
    lines = [" ".join(words)]
    if len(words) == 1 and os.path.exists(words[0]):
        lines = _lines(Path(words[0]))
    parts = [_names(line, source) for line in lines]
    between = [[DELIMITER, *part] for part in parts]
    try:
        prompt = source.parse_prompt([name for part in between for name in part][1:])
        source.laid_out([prompt])
    except Refused as reason:
        if len(words) == 1 and Path(words[0]).suffix and not os.path.exists(words[0]):
            raise KrohnError(f"{words[0]}: there is no such file") from None
        raise KrohnError(
            f"{reason}. A prompt is demonstrations and then a test history: a line each in "
            f"a file, or with {DELIMITER} between them"
        ) from None
    return prompt


def _names(line: str, source: InContext) -> list[str]:
    """Letters and delimiters; between two of these is a word."""
    words = [names_in([word], source.letters) for word in line.split(DELIMITER)]
    between = [[DELIMITER, *word] for word in words]
    return [name for part in between for name in part][1:]


def _lines(path: Path) -> list[str]:
    lines = read_text(path, LARGEST_PROMPT).splitlines()
    return [line.rstrip(" |") for line in lines if line.strip(" |")]


def _laws(
    file: ModelFile,
    source: InContext,
    prompts: list[Prompt],
    network: Opened = None,
) -> FloatArray:
    """``(prompts, p^M)``: what the network says at the last position."""
    from krohn.network.running_file import plain_network, run_on

    opened, tokens = network or plain_network(file), source.laid_out(prompts)
    most = max(1, SCORES // (2 * source.targets * (source.length + 1) ** 2))
    parts = (tokens[at : at + most] for at in range(0, len(tokens), most))
    return np.concatenate([run_on(opened, part)[:, -1] for part in parts])


def _simulate_prompts(
    file: ModelFile, source: InContext, prompts: list[Prompt], progress: Progress
) -> Simulation:
    """Hold the laws against gradient descent: are they within the claimed error?"""

    def run(some: IntArray) -> FloatArray:
        problem = contexts.regression(source, [prompts[i] for i in some.tolist()])
        law: FloatArray = contexts.descent(problem) @ problem.asked[:, :, None]
        return law.swapaxes(1, 2)

    def answer_prompts(some: IntArray) -> FloatArray:
        return _laws(file, source, [prompts[i] for i in some.tolist()])[:, None]

    def spell_prompt(i: Any, _: int) -> tuple[str, ...]:
        return source.write_prompt(prompts[i])

    right = Reference(run, contexts.rounding(source))
    batches = in_batches(np.arange(len(prompts)), 64, "running prompts", progress)
    runs = ((some, run(some), answer_prompts(some)) for some in batches)
    simulation = judge_outputs(runs, right, file.claim.error, spell_prompt)
    simulation, wrong = (
        replace(simulation, length=source.length),
        simulation.counterexample,
    )
    if wrong is None:
        return simulation
    before = ("",) * (len(wrong.word) - 1)  # nothing is claimed of the others
    law, answer = ((*before, *x) for x in (wrong.expected, wrong.actual))
    return replace(
        simulation, counterexample=replace(wrong, expected=law, actual=answer)
    )
