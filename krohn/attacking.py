"""Attacks on the proof of a model file, as part of verifying it."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from krohn.checks import Checks
from krohn.network.modelfile import ModelFile
from krohn.report import Report, refuted
from krohn.verification_target import Target, open_target
from krohn.verify.attack.campaign import Attack, Extent, attack
from krohn.verify.testing.counterexample import Counterexample, pair


def attacked(
    report: Report,
    model: str | Path | ModelFile,
    checks: Checks | None = None,
    *,
    seconds: float,
) -> Report:
    """Try to violate every bound of the proof in a report.

    Args:
        report: What `krohn.verification.verify` said; it is returned as it is if it is not
            ``verified`` by a proof.
        model: The model file.
        checks: What was asked there, if anything was; the seed is that of words, orders
            and arithmetic.
        seconds: How long to try.

    Returns:
        With ``method`` ``…+attack`` and what came of it. One number beyond its bound makes
        it ``undecided``, for then the proof or its assumptions are wrong; an answer that
        is wrong again when its word is run by itself makes it ``refuted``.
    """
    if report.verdict != "verified" or report.proof is None:
        return report
    checks = checks or Checks()
    tell = checks.report
    target = open_target(model, checks.machine, checks.observation, tell)
    found = attack(
        target.file,
        target.machine,
        report.proof,
        Extent(seconds=seconds),
        checks.seed,
        progress=lambda _, passed: tell("attacking", int(passed), int(seconds)),
    )
    tried = replace(
        report,
        method=f"{report.method}+attack",
        attack=found,
        seconds=report.seconds + found.seconds,
    )
    return tried if found.passed else _violated(target, tried, found)


def _violated(target: Target, report: Report, found: Attack) -> Report:
    wrong = _wrong(target, found)
    if wrong is not None:
        after = refuted([], wrong, target.minimise, report.method)
        after = replace(after, about=target.claim, proof=report.proof)
        return replace(after, attack=found, seconds=report.seconds)
    worst = found.violations[0]
    reason = (
        f"{worst.operation} {worst.channel!r} was off by {worst.observed:.3g} where "
        f"the proof allows {worst.bound:.3g} ({worst.way}): it does not hold in the "
        "arithmetic of this machine"
    )
    return replace(report, verdict="undecided", reason=reason, covers="nothing")


def _wrong(target: Target, found: Attack) -> Counterexample | None:
    """A word on which an answer was wrong, and is again."""
    for worst in found.violations:
        if worst.operation == "margin" and not worst.observed > 0 and worst.word:
            judge = pair(target.model, target.machine, len(worst.word))
            wrong = judge.replay(np.array(worst.word))
            if wrong is not None:
                return wrong
    return None
