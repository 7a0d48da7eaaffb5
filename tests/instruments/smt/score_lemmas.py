"""Where heads look, for words of every length: lemmas with symbolic positions.

Positions are integers without a largest one, and a flag is any function of them. A
lemma says that the score of one position exceeds that of any other up to the position
that looks by a gap; the solver is asked for positions and flags where it does not. What
holds of all positions between two is used at the rival only, which is enough: so a
question has no quantifiers, and is linear in integers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from krohn.instruments.smt.gadgets import (
    Answer,
    Limits,
    ask,
    solver,
)


@dataclass(frozen=True)
class Lemma:
    """A claim about scores: what is assumed implies that the gap is there.

    Attributes:
        name: What it is called.
        unknowns: The numbers and flags that a counterexample gives, by name.
        assumed: Conditions.
        gap: How much the score of the right position exceeds that of the rival.
        least: The gap that is claimed.
    """

    name: str
    unknowns: Mapping[str, Any]
    assumed: tuple[Any, ...]
    gap: Any
    least: Fraction

    @property
    def negated(self) -> list[Any]:
        """The conditions of a counterexample."""
        return [*self.assumed, self.gap < z3.RealVal(self.least)]

    def decide(self, limits: Limits | None = None) -> Answer:
        """``unsat`` proves the lemma; ``sat`` refutes it with a model."""
        limits = limits or Limits()
        return ask(solver(limits), self.negated, limits)

    def smt_lib(self) -> str:
        """The question as SMT-LIB 2: ``unsat`` says that the lemma holds."""
        asked = z3.Solver()
        asked.add(*self.negated)
        return f"(set-logic QF_UFLIRA)\n{asked.to_smt2()}"


_LOOKS, _RIGHT, _RIVAL = z3.Ints("looks right rival")
_FLAG = z3.Function("flag", z3.IntSort(), z3.BoolSort())


def _worth(condition: Any, bonus: Any) -> Any:
    return z3.If(condition, bonus, z3.RealVal(0))


def _positions(first: int) -> tuple[Any, ...]:
    """The right position and a rival, from the first one up to the one that looks."""
    inside = [z3.And(first <= j, j <= _LOOKS) for j in (_RIGHT, _RIVAL)]
    return (*inside, _RIGHT != _RIVAL)


def _latest_flagged(flag: Any) -> tuple[Any, ...]:
    """The right position is flagged, and no later one is."""
    return flag(_RIGHT), z3.Implies(_RIVAL > _RIGHT, z3.Not(flag(_RIVAL)))


def _lemma(
    name: str,
    assumed: tuple[Any, ...],
    scores: tuple[Any, Any],
    least: Fraction,
    **more: Any,
) -> Lemma:
    unknowns = {"looks": _LOOKS, "right": _RIGHT, "rival": _RIVAL, **more}
    return Lemma(name, unknowns, assumed, scores[0] - scores[1], least)


def memory(beyond: Fraction = Fraction(1)) -> Lemma:
    """Score j + bonus·flag: the latest flagged position wins by 1, for every T.

    Lemma 16 with BOS as a flagged position 0. The bonus is at least T + ``beyond``;
    with the printed T (erratum E15) an unflagged position T ties with BOS.
    """
    longest, bonus = z3.Int("longest"), z3.Real("bonus")
    enough = bonus >= z3.ToReal(longest) + z3.RealVal(beyond)
    scores = _both(lambda j: z3.ToReal(j) + _worth(_FLAG(j), bonus))
    inside = (*_positions(0), _LOOKS <= longest, enough, _FLAG(0))
    assumed = (*inside, *_latest_flagged(_FLAG))
    more = {"longest": longest, "bonus": bonus}
    return _lemma("memory", assumed, scores, Fraction(1), **more)


def uniform_memory() -> Lemma:
    """Score j + (t + 1)·flag: the latest flagged position wins by 1, without any T.

    The length-uniform head of section 3.5.7.3: nothing in it depends on a length.
    """
    bonus = z3.ToReal(_LOOKS) + 1
    scores = _both(lambda j: z3.ToReal(j) + _worth(_FLAG(j), bonus))
    assumed = (*_positions(0), _FLAG(0), *_latest_flagged(_FLAG))
    return _lemma("length-uniform memory", assumed, scores, Fraction(1))


def earliest(beyond: Fraction = Fraction(1)) -> Lemma:
    """Score bonus·flag − j: the earliest flagged position wins by 1, or else BOS.

    BOS is not flagged. The bonus is at least T + ``beyond``; with T a flagged position T
    ties with BOS.
    """
    longest, bonus = z3.Int("longest"), z3.Real("bonus")
    enough = bonus >= z3.ToReal(longest) + z3.RealVal(beyond)
    scores = _both(lambda j: _worth(_FLAG(j), bonus) - z3.ToReal(j))
    first = z3.If(
        _RIGHT == 0,
        z3.Not(_FLAG(_RIVAL)),
        z3.And(_FLAG(_RIGHT), z3.Implies(_RIVAL < _RIGHT, z3.Not(_FLAG(_RIVAL)))),
    )
    inside = (*_positions(0), _LOOKS <= longest, enough, z3.Not(_FLAG(0)))
    more = {"longest": longest, "bonus": bonus}
    return _lemma("earliest", (*inside, first), scores, Fraction(1), **more)


def pointing(sink: Fraction = Fraction(-1)) -> Lemma:
    """A head that looks where digits say: that position wins by 1, or else BOS.

    Assumed of the digits: those of equal positions score N, others at most N − 2; BOS
    scores N + ``sink``. With N it ties with the position that is pointed at.
    """
    at, top = z3.Int("at"), z3.Real("top")
    alike = z3.Function("alike", z3.IntSort(), z3.RealSort())
    scores = _both(lambda j: z3.If(j == 0, top + z3.RealVal(sink), alike(j)))
    digits = [
        z3.If(j == at, alike(j) == top, alike(j) <= top - 2) for j in (_RIGHT, _RIVAL)
    ]
    right = z3.If(z3.And(1 <= at, at <= _LOOKS), at, 0)
    assumed = (*_positions(0), *digits, right == _RIGHT)
    return _lemma("pointing", assumed, scores, Fraction(1), at=at, top=top)


def match(sink: Fraction = Fraction(1, 2)) -> Lemma:
    """Score j + bonus·match: the latest match wins by 1, or else BOS, for every T.

    BOS never matches and has the score ``sink``·bonus; the bonus is at least 2(T + 1).
    Without the sink (erratum E31) a head that matches nothing looks at some letter.
    """
    longest, bonus = z3.Int("longest"), z3.Real("bonus")
    enough = bonus >= 2 * (z3.ToReal(longest) + 1)
    scores = _both(
        lambda j: z3.If(
            j == 0, z3.RealVal(sink) * bonus, z3.ToReal(j) + _worth(_FLAG(j), bonus)
        )
    )
    latest = z3.If(
        _RIGHT == 0,
        z3.Not(_FLAG(_RIVAL)),
        z3.And(*_latest_flagged(_FLAG)),
    )
    assumed = (*_positions(0), _LOOKS <= longest, enough, latest)
    more = {"longest": longest, "bonus": bonus}
    return _lemma("latest match", assumed, scores, Fraction(1), **more)


def shift(direction: int = 1) -> Lemma:
    """A head that looks ``by`` back: position t − by wins by 1, or else BOS.

    Assumed of the code: positions alike score K, others at most K − 2, and BOS K − 1;
    `verify.checker.heads` checks the scores of each file. Keys turned the wrong way, as
    printed (erratum E8, ``direction`` −1), look forward, where the mask hides all.
    """
    by, top = z3.Int("by"), z3.Real("top")
    alike = z3.Function("alike", z3.IntSort(), z3.RealSort())
    target = _LOOKS - direction * by
    scores = _both(lambda j: z3.If(j == 0, top - 1, alike(j - target)))
    code = [
        z3.If(j == target, alike(j - target) == top, alike(j - target) <= top - 2)
        for j in (_RIGHT, _RIVAL)
    ]
    right = z3.If(_LOOKS >= by, _LOOKS - by, 0)
    assumed = (*_positions(0), by >= 1, *code, right == _RIGHT)
    return _lemma("shift", assumed, scores, Fraction(1), by=by, top=top)


def write_or_next(writes_are_odd: bool = True) -> Lemma:
    """Proposition 3, first layer: score j + 3/2·write looks back to a write, by 1/2.

    The right position is t − 1 if a letter is written there, and t otherwise. It needs
    what the language says, that writes stand at odd positions; for other words it is
    wrong (erratum F1).
    """
    scores = _both(lambda j: z3.ToReal(j) + _worth(_FLAG(j), z3.RealVal("3/2")))
    before = z3.And(_LOOKS > 1, _FLAG(_LOOKS - 1))
    odd = [
        z3.Implies(_FLAG(j), j % 2 == 1) for j in (_LOOKS, _LOOKS - 1, _RIGHT, _RIVAL)
    ]
    right = z3.If(before, _LOOKS - 1, _LOOKS)
    assumed = (*_positions(1), right == _RIGHT, *(odd if writes_are_odd else []))
    return _lemma("Proposition 3, layer 1", assumed, scores, Fraction(1, 2))


def latest_marked(within: bool = True) -> Lemma:
    """Proposition 3, second layer: score j + C·marked finds the latest mark, by 1.

    It does as long as the mark is nearer than C; without that it is wrong.
    """
    context = z3.Int("context")
    scores = _both(lambda j: z3.ToReal(j) + _worth(_FLAG(j), z3.ToReal(context)))
    near = (_LOOKS - _RIGHT < context,) if within else ()
    assumed = (*_positions(1), context >= 1, *_latest_flagged(_FLAG), *near)
    return _lemma(
        "Proposition 3, layer 2", assumed, scores, Fraction(1), context=context
    )


def _both(score: Any) -> tuple[Any, Any]:
    return score(_RIGHT), score(_RIVAL)


def lemmas() -> tuple[Lemma, ...]:
    """All lemmas, as they hold."""
    first = (memory(), uniform_memory(), earliest(), pointing(), match(), shift())
    return (*first, write_or_next(), latest_marked())
