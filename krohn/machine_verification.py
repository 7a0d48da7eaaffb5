"""Verifying a model of a machine: proof, all words, samples, attacks, and their verdict."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.checks import Checks, check_digest
from krohn.network.modelfile import ModelFile
from krohn.program.slices import needed_part, part
from krohn.program.word_texts import join_letters
from krohn.report import (
    Question,
    Report,
    explain_test,
    report_out_of_range,
    report_passing_runs,
    report_refutation,
)
from krohn.verification_target import (
    DEFAULT_SAMPLE_LENGTH,
    Target,
    Words,
    open_target,
)
from krohn.verify.proof import Proof, prove
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from krohn.instruments.attack.campaign import Attack
    from krohn.verify.testing.counterexample import Counterexample

SCORES = 2**28
"""About so many scores of a head are computed for samples that nobody asked for."""
LONGEST_SAMPLE = 8192
"""Nor are these longer; scores grow with the square of the length."""


def verify_machine(file: ModelFile, checks: Checks) -> Report:
    """Verify a file that is about a machine.

    Raises:
        KrohnError: If the file is damaged, or the alphabets do not fit.
    """
    if checks.sharding is not None and not checks.exhaustive:
        raise KrohnError(
            "--jobs, --memory, --shard, --job-file and --cluster are for all words up to a "
            "length; say --exhaustive N as well"
        )
    about = checks.machine, checks.observe, checks.report
    target = open_target(file, *about, length=checks.length)
    check_digest(target.claim, checks.digest)
    target = replace(target, budget=checks.shorten, sharding=checks.sharding)
    report = _as_shown(target, _decide(target, checks))
    claim, notes = target.claim, (*target.notes, *report.notes)
    if (
        report.verdict == "out-of-range"
    ):  # nothing is said of the claim that was asked for
        claim = open_target(file, *about).claim
    return replace(report, about=claim, notes=notes)


def _decide(target: Target, checks: Checks) -> Report:
    if target.asked and checks.proof:
        raise KrohnError(
            "-T is for words that are run; a proof is about all words that the file claims"
        )
    words, method = Words(checks.exhaustive, checks.sample, checks.seed), checks.method
    asked = _asked(target, words.exhaustive)
    if (longest := _longest(target)) is not None and asked > longest:
        return report_out_of_range(longest, asked, method)
    if words.exhaustive and target.says_classes:  # of laws only legal words are run
        from krohn.verify.testing.word_counts import check_word_count

        check_word_count(len(target.machine.letters), words.exhaustive)
    apart = None if target.shown is None else target.shown.word_within(target.length)
    if apart is not None:
        return _report_difference(target, apart, checks)
    if checks.proves and (checks.proof or target.provable):
        return _verify(target, method, words)
    words = words or _affordable(target, words.seed)
    return _conclude(target, None, _explain_no_proof(target), words)


def _longest(target: Target) -> int | None:
    """The longest word that can be asked about; None if there is none."""
    return target.claimed_length if target.provable else target.positions


def _asked(target: Target, exhaustive: int | None) -> int:
    """The longest word that is asked about; 0 if none is named."""
    asked = target.asked or (None if target.provable else target.claimed_length)
    return max(asked or 0, exhaustive or 0)


def _explain_no_proof(target: Target) -> str:
    if target.provable:
        return explain_test()
    return "the file has no Program, and a proof needs one"


def _verify(target: Target, method: str, words: Words) -> Report:
    done = target.prove(target.report("proving"))
    if done.verdict != "verified":
        return _search(target, method, done, words.seed)
    runs = words.run(target)
    failed = [r.counterexample for r in runs if r.counterexample]
    if failed:
        return _report_refutation(target, method, done, runs, failed[0])
    return Report(
        verdict="verified",
        method=method,
        reason="",
        length=target.length,
        words=sum(r.words for r in runs),
        ground=done.proved,
        proof=done,
        runs=runs,
    )


# Networks that say states, held against what another machine shows.


def _report_difference(target: Target, word: tuple[str, ...], checks: Checks) -> Report:
    """The report on a machine that shows something else than the file's own."""
    from krohn.verify.testing.shortest_failing import Minimal

    right = checks.proves and prove(target.file, target.machine).verdict == "verified"
    wrong = target.find_counterexample(word)
    if wrong is None:
        reason = (
            f"after {join_letters(word)} the network shows what this machine shows, and "
            "not what its own file says"
        )
        return Report("undecided", checks.method, reason, len(word), 1)
    known = Minimal(wrong, right, (len(word) - 1) * right, 0, 0)
    return report_refutation([], wrong, lambda _: known, checks.method)


def _as_shown(target: Target, report: Report) -> Report:
    """A report on states as one on what they show, if that is what is asked about."""
    counterexample, minimal = report.counterexample, report.minimal
    if target.shown is None or counterexample is None or minimal is None:
        return report
    wrong = target.find_counterexample(counterexample.word)
    if wrong is None:
        reason = (
            f"after {join_letters(counterexample.word)} the network is in another "
            "state than its "
            "own file says, which shows the same"
        )
        return replace(
            report,
            verdict="undecided",
            reason=reason,
            counterexample=None,
            minimal=None,
        )
    known = replace(minimal, found=wrong)
    refutation = report_refutation([], wrong, lambda _: known, report.method)
    return replace(
        report, reason=refutation.reason, counterexample=wrong, minimal=known
    )


def _report_refutation(
    target: Target,
    method: str,
    done: Proof | None,
    runs: Sequence[Simulation],
    found: "Counterexample",
) -> Report:
    return replace(report_refutation(runs, found, target.minimise, method), proof=done)


def _search(target: Target, method: str, done: Proof, seed: int) -> Report:
    """The proof failed: look for a word on which the network is wrong."""
    from krohn.verify.testing.counterexample import pair

    if done.word is not None:
        both = pair(target.model, target.machine, len(done.word))
        counterexample = both.replay(np.array(done.word))
        if counterexample is not None:
            return _report_refutation(target, method, done, [], counterexample)
    return _conclude(target, done, done.reason, _affordable(target, seed))


def _affordable(target: Target, seed: int) -> Words:
    """All short words and long hard ones: what can be said without a proof."""
    from krohn.verify.testing.examination import EXHAUSTIVE_WORDS, SAMPLES
    from krohn.verify.testing.word_counts import affordable

    length = target.length or DEFAULT_SAMPLE_LENGTH
    every = affordable(target.letters, length, EXHAUSTIVE_WORDS)
    longest = min(length, LONGEST_SAMPLE)
    rest = max(4, min(SAMPLES, SCORES // longest**2)) if every < length else None
    return Words(every, rest, seed, longest)


def _conclude(target: Target, done: Proof | None, reason: str, words: Words) -> Report:
    """Run words on a network that is not proved, and conclude."""
    from krohn.verify.testing.examination import Examination

    runs = words.run(target)
    examination = Examination(runs, target.length or DEFAULT_SAMPLE_LENGTH)
    if (
        examination.failing_run is not None
        and examination.failing_run.counterexample is not None
    ):
        wrong = examination.failing_run.counterexample
        report = _report_refutation(target, examination.method, done, runs, wrong)
    else:
        # Who asked for a proof did not ask how the words run here.
        complete = done is None and examination.complete and target.length is not None
        asked = Question(
            target.inputs, examination.length, target.says_classes, complete
        )
        report = report_passing_runs(
            runs, examination.method, asked, f"{reason}; {examination.summary}"
        )
    proved = "proof+" if done is not None else ""
    report = replace(report, proof=done, method=proved + report.method)
    bounds = part("limits of heads")
    if bounds is None or (done is None and target.provable):
        return report  # nobody has tried to prove it, and so nothing is to be explained
    with np.errstate(all="ignore"):  # weights may be as large as the format allows
        return replace(report, heads=bounds(target.file, target.machine))


# Attacks on the proof.


def attack_proof(
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
    campaign = needed_part("attack", "an attack")
    checks = checks or Checks()
    tell = checks.report
    target = open_target(model, checks.machine, checks.observe, tell)
    attack = campaign.attack(
        target.file,
        target.machine,
        report.proof,
        campaign.Extent(seconds=seconds),
        checks.seed,
        progress=lambda _, passed: tell("attacking", int(passed), int(seconds)),
    )
    tried = replace(
        report,
        method=f"{report.method}+attack",
        attack=attack,
        seconds=report.seconds + attack.seconds,
    )
    return (
        tried
        if attack.has_passed
        else _as_shown(target, _report_violation(target, tried, attack))
    )


def _report_violation(target: Target, report: Report, found: "Attack") -> Report:
    wrong = _wrong(target, found)
    if wrong is not None:
        after = report_refutation([], wrong, target.minimise, report.method)
        after = replace(after, about=target.claim, proof=report.proof)
        return replace(after, attack=found, seconds=report.seconds)
    worst = found.violations[0]
    reason = (
        f"{worst.operation} {worst.channel!r} was off by {worst.observed:.3g} where "
        f"the proof allows {worst.bound:.3g} ({worst.way}): it does not hold in the "
        "arithmetic of this machine"
    )
    return replace(report, verdict="undecided", reason=reason)


def _wrong(target: Target, found: "Attack") -> "Counterexample | None":
    """A word on which an answer was wrong, and is again."""
    from krohn.verify.testing.counterexample import pair

    for worst in found.violations:
        if worst.operation == "margin" and not worst.observed > 0 and worst.word:
            judge = pair(target.model, target.machine, len(worst.word))
            wrong = judge.replay(np.array(worst.word))
            if wrong is not None:
                return wrong
    return None
