"""How far gradient descent by ReLU attention can be off: the recursion of Theorem W12."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from krohn.kinds.in_context.statement import StatedInContext
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    Format,
    Interval,
    bound_underflow,
    gamma,
    sum_error,
)


class Errors(NamedTuple):
    """The largest errors of scores and values.

    Attributes:
        feature: An entry of a copied letter.
        weights: A row of W, in the 2-norm, after the last step.
        answer: An output.
    """

    feature: float
    weights: float
    answer: float


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

    given: StatedInContext
    form: Format
    leak: float
    limit: float
    step: float

    def gamma(self, terms: int) -> Interval:
        """γ_n: what a sum of so many terms is off by, relative to its terms."""
        demand(terms * self.form.sum_unit <= 0.125, "a sum has too many terms")
        return gamma(terms, self.form.sum_unit)

    @cached_property
    def copy_errors(self) -> tuple[Interval, Interval]:
        """F and F_0: how far a 1 and a 0 of a letter can be off, after all copies."""
        one = zero = Interval.of(0.0)
        leak = 4 * Interval.of(self.leak)
        for _ in range(max(self.given.window - 1, self.given.ahead)):
            astray, wrong = (
                leak + 4 * self.form.sum_unit,
                leak * (1 + one) + bound_underflow(2),
            )
            one, zero = one + (1 + one) * astray + wrong, zero + zero * astray + wrong
        return one, zero

    @cached_property
    def target(self) -> Interval:
        """Y: the same of an entry of the target."""
        m, (off, _) = self.given.ahead, self.copy_errors
        if m == 1:
            return off
        return m * off + sum_error(self.form, m + 1, m * (1 + off) + m - 1)

    @cached_property
    def window(self) -> tuple[Interval, Interval]:
        """The 2-norm of a window with its error, and of the error alone."""
        one, zero = self.copy_errors
        off = root(self.given.window) * one + root(self.given.features) * zero
        return root(self.given.window) + off, off

    def bound(self, steps: int) -> Interval:
        """Ω: the 2-norm of a row of W after so many exact steps."""
        return root(Fraction(steps, self.given.window))

    def errors(self) -> Errors:
        """All of them.

        Raises:
            Refused: If what is to be shut out may come in.
        """
        off = Interval.of(0.0)
        for t in range(self.given.steps):
            off = self._after(t, off)
        return Errors(self.copy_errors[0].most, off.most, self._answer(off).most)

    def _after(self, t: int, off: Interval) -> Interval:
        """How far a row of W can be off in the 2-norm after step t + 1, by that before."""
        given, target, (long, astray) = self.given, self.target, self.window
        n, most = given.demonstrations, self.bound(t) + off
        magnitude = most * long + 1 + target
        self._shut(magnitude, given.features + 2)
        open_ = self._open_error()
        score = open_ + self._score(most, magnitude + open_, given.window + 2)
        wrong = score + most * astray + target
        mean = 1 + off * root(given.window)
        drift = Interval.of(abs(Fraction(self.step) - Fraction(1, given.window * n)))
        moved = wrong * long + mean * astray
        moved += self.gamma(n + 2) * (mean + wrong + score) * long
        moved = n * (self.step * moved + drift * mean * root(given.window))
        moved += root(given.features) * bound_underflow(
            2 * n * Interval.of(self.step) + 2
        )
        return off + moved + self.form.sum_unit * (self.bound(t + 1) + off + moved)

    def _score(self, most: Interval, said: Interval, terms: int) -> Interval:
        """How far a score is rounded, if what should be 0 is no term that counts.

        Args:
            most: The 2-norm of a row of W.
            said: The sum of the absolute values of all terms.
            terms: How many there are but for those that should be 0.
        """
        tiny = most * root(self.given.features) * self.copy_errors[1]
        return (
            self.gamma(terms) * said
            + 4 * tiny
            + bound_underflow(self.given.features + 2)
        )

    def _open_error(self) -> Interval:
        """How far what a valid window adds to a score can be from 0."""
        terms = self.given.window + self.given.ahead + 1
        size = self.limit * (terms - 1) * self.copy_errors[1]
        return (1 + self.gamma(terms)) * size + bound_underflow(terms)

    def _shut(self, said: Interval, terms: int) -> None:
        """No invalid window can have a score above 0."""
        parts = self.given.window + self.given.ahead + 1
        gamma, off = (
            self.gamma(parts),
            self.copy_errors[0] + (parts - 1) * self.copy_errors[1],
        )
        least = self.limit * ((1 - gamma) * (1 - off) - 2 * gamma * off)
        least -= bound_underflow(parts)
        most = (1 + self.gamma(terms)) * said + bound_underflow(terms)
        shut = most <= (1 - self.gamma(terms)) * least
        demand(shut, "a window that is no demonstration's may be learned from")

    def _answer(self, off: Interval) -> Interval:
        """How far an output can be off, if a row of W can be in the 2-norm."""
        given, (long, astray) = self.given, self.window
        most = self.bound(given.steps) + off
        terms, magnitude = given.features + 1, most * long
        shut = (1 + self.gamma(terms)) * magnitude + bound_underflow(terms)
        limit = (1 - self.gamma(terms)) * self.limit
        demand(shut <= limit, "another window may be asked about")
        score = self._score(most, magnitude, given.window)
        read = self.form.sum_unit * (magnitude + 2 * score)
        return off * root(given.window) + most * astray + score + read


def root(exact: Fraction | int) -> Interval:
    """The square root of a number."""
    return Interval.of(Fraction(exact)).through(np.sqrt)
