"""Learning in context: prompts, and the gradient descent that a network does on them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from krohn.kinds.in_context.statement import (
    DELIMITER,
    MOST_LETTERS,
    StatedInContext,
    name_letters,
)
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, demand, told_as

# Prompts of a bounded form: demonstrations and a test history, between delimiters.


_NAME = re.compile(r"InContext(\d{1,9}),(\d{1,9})((?::|,)[a-z]+=\d{1,9})*")
_OPTION = re.compile(r"(?<![a-z])([a-z]++)=(\d++)")


class Prompt(NamedTuple):
    """Letter numbers: demonstrations of L + M letters each, and the test history."""

    demonstrations: tuple[tuple[int, ...], ...]
    history: tuple[int, ...]


class InContext(StatedInContext):
    """Learning in context, and prompts for it."""

    def laid_out(self, prompts: Iterable[Prompt]) -> IntArray:
        """``(prompts, N)``: token numbers.

        Raises:
            Refused: If a prompt is not of the form; the message says what is wrong.
        """
        rows = list(prompts)
        tokens = np.full((len(rows), self.length), self.count)
        for row, prompt in zip(tokens, rows, strict=True):
            self._check(prompt)
            for k, shown in enumerate(prompt.demonstrations):
                at = k * (self.segment + 1)
                row[at : at + self.segment] = shown
            row[self.length - len(prompt.history) :] = prompt.history
        return tokens

    def _check(self, prompt: Prompt) -> None:
        count, last = len(prompt.demonstrations), len(prompt.history)
        known = range(self.count)
        every = (*prompt.demonstrations, prompt.history)
        demand(
            all(a in known for part in every for a in part),
            f"a letter is not one of {' '.join(self.letters[:-1])}",
        )
        demand(
            1 <= count <= self.demonstrations,
            f"it has {count} demonstrations; {self.name} reads 1 to "
            f"{self.demonstrations}",
        )
        for k, shown in enumerate(prompt.demonstrations, start=1):
            demand(
                len(shown) == self.segment,
                f"demonstration {k} has {len(shown)} letters; each has {self.segment}",
            )
        demand(
            self.window <= last <= self.history,
            f"the test history, which comes last, has {last} letters; it has "
            f"{self.window} to {self.history}",
        )

    def parse_prompt(self, names: Sequence[str]) -> Prompt:
        """The prompt of letters by name, with delimiters between its parts.

        Raises:
            Refused: If a name is unknown.
        """
        index = {name: a for a, name in enumerate(self.letters)}
        unknown = next((n for n in names if n not in index), None)
        known = " ".join(self.letters)
        demand(unknown is None, f"there is no letter {unknown!r}; there are {known}")
        parts: list[list[int]] = [[]]
        for name in names:
            if name == DELIMITER:
                parts.append([])
            else:
                parts[-1].append(index[name])
        *shown, history = [tuple(part) for part in parts]
        return Prompt(tuple(shown), history)

    def write_prompt(self, prompt: Prompt) -> tuple[str, ...]:
        """The names of a prompt's tokens, as `parse_prompt` reads them."""
        names: list[str] = []
        for part in prompt.demonstrations:
            names += [*(self.letters[a] for a in part), DELIMITER]
        return (*names, *(self.letters[a] for a in prompt.history))

    def sample_prompts(
        self, count: int, generator: np.random.Generator
    ) -> list[Prompt]:
        """Random prompts; some repeat one demonstration, so that the curvature is L."""
        prompts = []
        for k in range(count):
            shown = 1 if k % 8 == 7 else self.demonstrations
            rows = generator.integers(self.count, size=(shown, self.segment))
            rows = np.repeat(rows, self.demonstrations // shown, axis=0)
            if k % 4 == 1:
                rows = rows[: generator.integers(1, len(rows) + 1)]
            last = generator.integers(self.window, self.history + 1)
            test = generator.integers(self.count, size=last)
            prompts.append(
                Prompt(tuple(map(tuple, rows.tolist())), tuple(test.tolist()))
            )
        return prompts


def _usual(window: int) -> dict[str, int]:
    """The sizes that a name need not say."""
    history = max(2 * window + 2, 8)
    return {"demonstrations": 16, "history": history, "steps": 8, "ahead": 1}


def find_by_name(text: str) -> InContext | None:
    """The source of a name such as ``InContext3,2:steps=4``; None if it is of none.

    Raises:
        Refused: If an option is unknown, or a number is too small or too large.
    """
    if not text.startswith("InContext"):
        return None
    match, options = _NAME.fullmatch(text), _OPTION.findall(text)
    known = list(_usual(1))
    demand(
        match is not None and all(name in known for name, _ in options),
        f"{text!r} is no name: say InContextP,L or InContextP,L:OPTION=N,…, P letters, "
        f"a window of L, options {', '.join(known)}",
    )
    assert match is not None
    demand(len(dict(options)) == len(options), f"{text!r} says an option twice")
    window, given = int(match[2]), {name: int(n) for name, n in options}
    with told_as(Refused, f"{text}: "):
        return of_sizes(int(match[1]), window, **{**_usual(window), **given})


def of_sizes(count: int, window: int, **sizes: int) -> InContext:
    """The source of so many letters and a window, by the name that `find_by_name` reads.

    Args:
        count: p.
        window: L.
        sizes: The others.

    Raises:
        Refused: If a number is too small or too large.
    """
    demand(2 <= count <= MOST_LETTERS, f"2 to {MOST_LETTERS} letters")
    usual = _usual(window)  # what is usual is left out of the name
    options = ",".join(
        f"{key}={sizes[key]}" for key in usual if sizes[key] != usual[key]
    )
    name = f"InContext{count},{window}" + f":{options}" * bool(options)
    return InContext(name, name_letters(count), window, **sizes)


# The reference of a network that learns in context: T_0 exact steps of gradient descent.
#
# For windows z_k (one-hot letters, latest first) and targets y_k (one-hot tuples)
# it takes steps of η = 1/L from W = 0 on (1/2n) Σ_k ‖y_k − W z_k‖². Since ‖z‖² = L,
# no eigenvalue of (1/n) Σ z zᵀ is above L, and L is reached where all windows are
# the same one.


Exact = list[list[Fraction]]


@dataclass(frozen=True)
class Regression:
    """The windows of prompts with their targets, and the windows that are asked about.

    Attributes:
        source: What they are of.
        windows: ``(prompts, n, pL)``: one-hot; all 0 where no demonstration is.
        targets: ``(prompts, n, p^M)``: the same of targets.
        asked: ``(prompts, pL)``: the last window of each test history.
    """

    source: InContext
    windows: FloatArray
    targets: FloatArray
    asked: FloatArray

    @property
    def covariance(self) -> FloatArray:
        """``(prompts, pL, pL)``: (1/n) Σ z zᵀ."""
        total: FloatArray = self.windows.transpose(0, 2, 1) @ self.windows
        return total / self.source.demonstrations

    @property
    def moments(self) -> FloatArray:
        """``(prompts, p^M, pL)``: (1/n) Σ y zᵀ."""
        total: FloatArray = self.targets.transpose(0, 2, 1) @ self.windows
        return total / self.source.demonstrations


def regression(source: InContext, prompts: list[Prompt]) -> Regression:
    """The least squares problem of each prompt, from its tokens as they are laid out.

    Raises:
        Refused: If a prompt is not of the form.
    """
    tokens = source.laid_out(prompts)
    shape = (len(tokens), source.demonstrations, source.segment + 1)
    parts = tokens[:, : source.examples].reshape(shape)
    z = _one_hot(source, parts[:, :, : source.window][..., ::-1])
    asked = _one_hot(source, tokens[:, ::-1][:, : source.window])
    place = source.count ** np.arange(source.ahead)[::-1]
    target = parts[:, :, source.window : -1] @ place
    there = parts[:, :, :1] < source.count
    y = (target[:, :, None] == np.arange(source.targets)) & there
    return Regression(source, z, y.astype(np.float64), asked)


def _one_hot(source: InContext, letters: IntArray) -> FloatArray:
    """``(…, L)`` letters to ``(…, pL)``; a delimiter is 0."""
    matches = letters[..., None] == np.arange(source.count)
    flat: FloatArray = matches.reshape(*letters.shape[:-1], -1).astype(np.float64)
    return flat


def descent(problem: Regression, steps: int | None = None) -> FloatArray:
    """``(prompts, p^M, pL)``: W after some steps, T_0 of them if none are said.

    In float64. All numbers are sums of at most n terms of at most 1, so that `rounding`
    bounds what this is off by.
    """
    source = problem.source
    covariance, moments = problem.covariance, problem.moments
    weights: FloatArray = np.zeros_like(moments)
    for _ in range(source.steps if steps is None else steps):
        weights = weights - (weights @ covariance - moments) / source.window
    return weights


def rounding(source: InContext) -> float:
    """How far an entry of `descent`, applied to a window, is from the exact number.

    Of a row w of W, ‖w‖₂ ≤ √(T_0/L) (Theorem W12). A step multiplies its error by at most 1
    in the 2-norm, since η times the covariance is between 0 and 1, and adds pL + 5
    roundings of numbers that are at most ‖w‖₂ + 1 together: the covariance, which has no
    negative entry, is at most L in the 2-norm.
    """
    norm, unit = (source.steps / source.window) ** 0.5, 2.0**-52
    once = (source.features + 5) * unit * (norm + 1)
    read_out = source.features * unit * norm
    return float(source.window**0.5 * (source.steps * once + read_out))


def exactly(source: InContext, prompt: Prompt) -> list[Fraction]:
    """``(p^M,)``: W z of the window that is asked about, without any error."""
    problem = regression(source, [prompt])
    windows = [np.flatnonzero(z).tolist() for z in problem.windows[0]]
    targets = [np.flatnonzero(y).tolist() for y in problem.targets[0]]
    step = Fraction(1, source.window * source.demonstrations)
    weights: Exact = [[Fraction()] * source.features for _ in range(source.targets)]
    for _ in range(source.steps):
        off = [
            [sum((row[i] for i in z), Fraction()) for row in weights] for z in windows
        ]
        for z, y, outputs in zip(windows, targets, off, strict=True):
            for r, row in enumerate(weights):
                for i in z:
                    row[i] -= step * (outputs[r] - (r in y))
    asked = np.flatnonzero(problem.asked[0]).tolist()
    return [sum((row[i] for i in asked), Fraction()) for row in weights]


def least_squares(problem: Regression) -> FloatArray:
    """``(prompts, p^M, pL)``: where gradient descent from 0 goes, the least solution."""
    inverse = np.linalg.pinv(problem.covariance, rcond=1e-10, hermitian=True)
    weights: FloatArray = problem.moments @ inverse
    return weights


def condition(problem: Regression) -> FloatArray:
    """``(prompts,)``: κ = L/λ, λ the least eigenvalue of the covariance above 0.

    The whole covariance has L − 1 eigenvalues 0 at least, for every block of a window sums
    to 1 (so assumption A3 of Hao et al. 2025 cannot hold for L ≥ 2). Gradient
    descent from 0 never leaves the span of the windows.
    """
    values = np.linalg.eigvalsh(problem.covariance)
    least = np.where(values > 1e-10, values, np.inf).min(axis=1)
    ratio: FloatArray = problem.source.window / least
    return ratio


def marginal(source: InContext, laws: FloatArray) -> FloatArray:
    """``(…, p)``: the law of the next letter, from that of the next M."""
    law: FloatArray = laws.reshape(*laws.shape[:-1], source.count, -1).sum(axis=-1)
    return law
