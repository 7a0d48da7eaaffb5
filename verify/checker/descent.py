"""How far gradient descent by ReLU attention can be off: the recursion of Theorem W12."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, NamedTuple

from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import INFLATION, UNDERFLOW
from krohn.verify.checker.model_file import Format

SIZES = ("window", "demonstrations", "history", "steps", "ahead")
MOST = 4096


class Given(NamedTuple):
    """Prompts and steps: p, L, n, H, T_0 and M.

    A prompt has at most n demonstrations of L + M letters, each with a delimiter after it,
    and a history of L to H letters. It is laid out in N = n(L + M + 1) + H tokens.
    """

    letters: int
    window: int
    demonstrations: int
    history: int
    steps: int
    ahead: int

    @property
    def features(self) -> int:
        """P·L."""
        return self.letters * self.window

    @property
    def targets(self) -> int:
        """p^M."""
        return int(self.letters**self.ahead)

    @property
    def copies(self) -> int:
        """L − 1 + M: the letters around a position that are copied to it."""
        return self.window - 1 + self.ahead

    @property
    def examples(self) -> int:
        """n(L + M + 1)."""
        return self.demonstrations * (self.window + self.ahead + 1)

    @property
    def length(self) -> int:
        """N."""
        return self.examples + self.history


class Errors(NamedTuple):
    """What can be off, at most.

    Attributes:
        feature: An entry of a copied letter.
        weights: A row of W, in the 2-norm, after the last step.
        answer: An output.
    """

    feature: float
    weights: float
    answer: float


def sizes_of(letters: int, said: Mapping[str, Any]) -> Given:
    """The sizes that a header states.

    Raises:
        Refused: If they are none, or too large to be checked.
    """
    sizes = [said[name] for name in SIZES]
    fair = all(type(n) is int and 1 <= n <= MOST for n in sizes)
    demand(
        fair and 1 < letters <= MOST, "the file does not say which prompts it is for"
    )
    given = Given(letters, *sizes)
    demand(given.ahead <= 12 and given.targets <= MOST, "too many tuples")
    demand(given.window <= given.history, "a history may be shorter than a window")
    return given


@dataclass(frozen=True)
class Descent:
    """The network's T_0 steps beside exact ones.

    Attributes:
        given: Which prompts, how many steps.
        form: The format.
        leak: Of the heads that copy.
        limit: R.
        step: What is multiplied, η/n nearly.
    """

    given: Given
    form: Format
    leak: float
    limit: float
    step: float

    def gamma(self, terms: int) -> float:
        """γ_n: what a sum of so many terms is off by, relative to its terms."""
        part = terms * self.form.sum_unit
        demand(part <= 0.125, "a sum has too many terms")
        return part / (1 - part) * INFLATION

    @property
    def copied(self) -> tuple[float, float]:
        """F and F_0: how far a 1 and a 0 of a letter can be off, after all copies."""
        one, zero, astray = 0.0, 0.0, 4 * self.leak + 4 * self.form.sum_unit
        for _ in range(max(self.given.window - 1, self.given.ahead)):
            wrong = 4 * self.leak * (1 + one) + 2 * UNDERFLOW
            one = (one + (1 + one) * astray + wrong) * INFLATION
            zero = (zero + zero * astray + wrong) * INFLATION
        return one, zero

    @property
    def target(self) -> float:
        """Y: the same of an entry of the target."""
        m, (off, _) = self.given.ahead, self.copied
        if m == 1:
            return off
        size = m * (1 + off) + m - 1
        return (m * off + self.gamma(m + 1) * size + (m + 1) * UNDERFLOW) * INFLATION

    @property
    def window(self) -> tuple[float, float]:
        """The 2-norm of a window with its error, and of the error alone."""
        one, zero = self.copied
        off = sqrt(self.given.window) * one + sqrt(self.given.features) * zero
        off *= INFLATION
        return (sqrt(self.given.window) + off) * INFLATION, off

    def bound(self, steps: int) -> float:
        """Ω: the 2-norm of a row of W after so many exact steps."""
        return sqrt(steps / self.given.window) * INFLATION

    def errors(self) -> Errors:
        """All of them.

        Raises:
            Refused: If what is to be shut out may come in.
        """
        off = 0.0
        for t in range(self.given.steps):
            off = self._after(t, off)
        return Errors(self.copied[0], off, self._answer(off))

    def _after(self, t: int, off: float) -> float:
        """How far a row of W can be off in the 2-norm after step t + 1, by that before."""
        given, target, (long, astray) = self.given, self.target, self.window
        most = (self.bound(t) + off) * INFLATION
        said = most * long + 1 + target
        self._shut(said, given.features + 2)
        open_ = self._open()
        score = open_ + self._score(most, said + open_, given.window + 2)
        wrong = (score + most * astray + target) * INFLATION
        mean = (1 + off * sqrt(given.window)) * INFLATION
        n, exact = (
            given.demonstrations,
            Fraction(1, given.window * given.demonstrations),
        )
        drift = float(abs(Fraction(self.step) - exact)) * INFLATION
        moved = wrong * long + mean * astray
        moved += self.gamma(n + 2) * (mean + wrong + score) * long
        moved = n * (self.step * moved + drift * mean * sqrt(given.window))
        moved += sqrt(given.features) * (2 * n * self.step + 2) * UNDERFLOW
        stored = self.form.sum_unit * (self.bound(t + 1) + off + moved)
        return (off + (moved + stored) * INFLATION) * INFLATION

    def _score(self, most: float, said: float, terms: int) -> float:
        """How far a score is rounded, if what should be 0 is no term that counts.

        Args:
            most: The 2-norm of a row of W.
            said: The sum of the absolute values of all terms.
            terms: How many there are but for those that should be 0.
        """
        tiny = most * sqrt(self.given.features) * self.copied[1]
        flushed = (self.given.features + 2) * UNDERFLOW
        return (self.gamma(terms) * said + 4 * tiny + flushed) * INFLATION

    def _open(self) -> float:
        """How far what a valid window adds to a score can be from 0."""
        terms = self.given.window + self.given.ahead + 1
        size = self.limit * (terms - 1) * self.copied[1]
        return ((1 + self.gamma(terms)) * size + terms * UNDERFLOW) * INFLATION

    def _shut(self, said: float, terms: int) -> None:
        """No invalid window can have a score above 0."""
        parts = self.given.window + self.given.ahead + 1
        gamma, off = self.gamma(parts), self.copied[0] + (parts - 1) * self.copied[1]
        least = self.limit * ((1 - gamma) * (1 - off) - 2 * gamma * off)
        least -= parts * UNDERFLOW
        most = (1 + self.gamma(terms)) * said + terms * UNDERFLOW
        shut = most * INFLATION <= (1 - self.gamma(terms)) * least / INFLATION
        demand(shut, "a window that is no demonstration's may be learned from")

    def _answer(self, off: float) -> float:
        """How far an output can be off, if a row of W can be in the 2-norm."""
        given, (long, astray) = self.given, self.window
        most = (self.bound(given.steps) + off) * INFLATION
        terms, said = given.features + 1, most * long
        gamma = self.gamma(terms)
        shut = ((1 + gamma) * said + terms * UNDERFLOW) * INFLATION
        demand(shut <= (1 - gamma) * self.limit, "another window may be asked about")
        score = self._score(most, said, given.window)
        read = self.form.sum_unit * (said + 2 * score)
        answer = off * sqrt(given.window) + most * astray + score + read
        return answer * INFLATION * INFLATION
