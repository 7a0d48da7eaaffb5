"""Deciding by SMT what an ideal network computes, and which functions its MLPs hold."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import output_classes
from krohn.instruments.gadgets.record import Gadget
from krohn.instruments.smt.gadgets import (
    Finding,
    Limits,
    decide,
)
from krohn.instruments.smt.network import (
    Decision,
    question,
)
from krohn.instruments.smt.steps import (
    Question as OfSteps,
    StepFinding,
    decide_steps,
    gadgets,
)
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.program.inputs import Words
from krohn.program.word_texts import join_letters
from krohn.program.writing import atomic_write
from krohn.report import Progress, Report, silent
from krohn.source_kinds import source_of
from krohn.verification_target import Target, open_target
from krohn.verify.errors import Rejected
from krohn.verify.proof import Verdict
from krohn.verify.testing.counterexample import Counterexample
from krohn.verify.testing.shortest_failing import Minimal
from krohn.verify.verdict import IDEAL, Ground, Ideal, Steps, Tables

USUAL = Limits()


def verify_ideal(
    model: str | Path | ModelFile,
    length: int,
    machine: Automaton | str | Path | None = None,
    *,
    limits: Limits = USUAL,
    smt_lib: str | Path | None = None,
    observe: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Decide by z3 whether the ideal network computes a machine on short words.

    The ideal network has the weights of the file as rational numbers, rounds nothing, and
    its heads take the value at a largest score instead of a softmax. This says nothing
    about the network in its number format, which `krohn.verify` proves;
    docs/instruments/smt.md.

    Args:
        model: A model file of a Transformer.
        length: The longest word.
        machine: What it must compute; by default the machine that the file names.
        limits: Of the question of each length.
        smt_lib: A file for the question in SMT-LIB 2, for other solvers.
        observe: As in `krohn.verify`.
        progress: As in `krohn.verify`.

    Returns:
        A report by the method ``smt``; ``undecided`` if the solver gives up.

    Raises:
        KrohnError: If the network is none that SMT can decide, the file is damaged, or
            the alphabets do not fit.
    """
    target = open_target(model, machine, observe, progress or silent)
    asked = question(target.file, target.machine, length)
    if smt_lib is not None:
        atomic_write(smt_lib, asked.smt_lib())
    decision = asked.decide(limits, target.report("asking z3"))
    report = _report(target, decision, length)
    if target.shown is not None:
        right = len(decision.word) - 1 if decision.word else decision.length
        report = _as_shown(target, report, right)
    return replace(report, about=target.claim)


def _report(target: Target, found: Decision, length: int) -> Report:
    rest: dict[str, Any] = {"words": 0, "seconds": found.seconds}
    if found.verdict == "refuted":
        wrong = _counterexample(target, found)
        return replace(_report_refutation(wrong, found.least), seconds=found.seconds)
    if found.verdict == "undecided":
        reason = f"z3 gave up after {found.length} letters: {found.reason}"
        return Report("undecided", "smt", reason, length, **rest)
    ground = Ideal(Words(len(target.machine.letters), length))
    return Report("verified", "smt", "", length, ground=ground, **rest)


def _report_refutation(wrong: Counterexample, least: bool) -> Report:
    """The report on a word; it may be known that no smaller one is wrong."""
    reason = (
        f"{IDEAL}, is wrong at letter {wrong.at} of this word, replayed in fractions"
    )
    length = len(wrong.word)
    minimal = Minimal(wrong, True, length - 1, 0, 0) if least else None
    details: dict[str, Any] = {"counterexample": wrong, "minimal": minimal}
    return Report("refuted", "smt", reason, length, 0, **details)


def _as_shown(target: Target, report: Report, right: int) -> Report:
    """A report on states as one on what they show; states are right so far."""
    assert target.shown is not None
    apart, wrong = target.shown.word_within(right), report.counterexample
    if apart is not None:
        word, actual = apart, target.shown.own.run(apart)
    elif wrong is not None:
        word, actual = wrong.word, target.shown.along(wrong.word, wrong.actual)
    else:
        return report
    expected = target.shown.wanted.run(word)
    if actual != expected:
        refutation = _report_refutation(
            Counterexample(word, expected, actual), len(word) <= right
        )
        return replace(refutation, seconds=report.seconds)
    reason = (
        f"{IDEAL}, is in a wrong state after {join_letters(word)}, which shows the same"
    )
    return Report("undecided", "smt", reason, len(word), 0)


def _counterexample(target: Target, found: Decision) -> Counterexample:
    """The counterexample by names."""
    names = output_classes(target.machine, target.file.claim.shows.value).names
    expected, actual = (
        tuple(names[c] for c in each) for each in (found.expected, found.said)
    )
    word = tuple(target.machine.letters[a] for a in found.word)
    return Counterexample(word, expected, actual)


def verify_gadgets(
    model: str | Path | ModelFile,
    noise: Fraction,
    error: Fraction = Fraction(1, 4),
    *,
    limits: Limits = USUAL,
    progress: Progress | None = None,
) -> Report:
    """Decide by z3 whether the MLPs of a model hold their functions for all real inputs.

    Of a machine these are tables, and inputs near codes; of a chain of thought they are
    the rules of its steps, and all real numbers within the bounds of what is read.

    Args:
        model: A model file of a Transformer.
        noise: How far each coordinate of an input may be from its code; of a step, how
            far each number that a head delivers may be off.
        error: How far each coordinate of a channel that an MLP writes may then be from
            the code of its value; of a step, how far the number that is said may be off.
        limits: Of the question of each row of a table, or step.
        progress: As in `krohn.verify`.

    Returns:
        A report by the method ``gadgets``; ``undecided`` if the solver gives up, or if
        the MLPs hold no tables that are small enough to ask about.

    Raises:
        KrohnError: If the file cannot be read.
    """
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    about, began = file.claim, time.monotonic()
    source, report = source_of(file), progress or silent
    if isinstance(source, ChainOfThought):
        of_steps = OfSteps(noise, error, limits=limits)
        decided = _of_steps(file, source, of_steps, report)
    else:
        decided = _of_tables(file, (noise, error), limits, report)
    verdict, reason, ground = decided
    result = Report(verdict, "gadgets", reason, about.length, 0, ground)
    return replace(result, about=about, seconds=time.monotonic() - began)


Decided = tuple[Verdict, str, Ground]
"""A verdict, the reason why it is not `verified`, and what it rests on if it is."""


def _of_tables(
    file: ModelFile,
    bounds: tuple[Fraction, Fraction],
    limits: Limits,
    report: Progress,
) -> Decided:
    """The verdict on all tables."""
    noise, error = bounds
    try:
        asked = list(gadgets(file))
        if not asked:
            raise Rejected("this network has no MLP that writes a channel")
        findings = list(_decide_each(asked, bounds, limits, report))
    except Rejected as problem:
        findings = [Finding("", "undecided", 0, str(problem))]
    verdict, reason = _overall(findings)
    rows = sum(finding.cases for finding in findings)
    return verdict, reason, Tables(len(findings), rows, noise, error)


def _decide_each(
    asked: list[Gadget],
    bounds: tuple[Fraction, Fraction],
    limits: Limits,
    report: Progress,
) -> Iterator[Finding]:
    for done, each in enumerate(asked, start=1):
        yield decide(each, *bounds, limits)
        report("asking z3", done, len(asked))


def _overall(findings: Iterable[Finding]) -> tuple[Verdict, str]:
    """The verdict on all findings, and its reason.

    A refutation outweighs an open question.
    """
    by_verdict = {f.verdict: f for f in reversed(list(findings))}
    if (wrong := by_verdict.get("refuted")) is not None:
        return "refuted", _describe_finding(wrong)
    if (open_one := by_verdict.get("undecided")) is not None:
        table = f"the table of {open_one.name!r}: " if open_one.name else ""
        return "undecided", table + open_one.reason
    return "verified", ""


def _describe_finding(wrong: Finding) -> str:
    assert wrong.case is not None
    assert wrong.inputs is not None
    assert wrong.output is not None
    assert wrong.wanted is not None
    code = (wrong.case.low + wrong.case.high) / 2
    parts = (wrong.inputs, code, wrong.output, wrong.wanted)
    at, near, given, right = ("(" + ", ".join(map(str, p)) + ")" for p in parts)
    return (
        f"the table of {wrong.name!r} gives {given} at {at}; at {near} it says {right}"
    )


def _of_steps(
    file: ModelFile, source: ChainOfThought, asked: OfSteps, report: Progress
) -> Decided:
    """The verdict on the steps of a chain of thought."""
    count, findings = sum(s.token is None for s in source.steps), list[StepFinding]()
    verdict: Verdict = "verified"
    reason = ""
    try:
        for each in decide_steps(file, source, asked):
            findings.append(each)
            report("asking z3", len(findings), count)
            if each.verdict == "refuted":
                break
    except Rejected as problem:
        verdict, reason = "undecided", str(problem)
    for each in findings:
        if each.verdict != "verified":
            verdict, reason = each.verdict, _step(each)
    return verdict, reason, Steps(count, asked.noise, asked.error)


def _step(found: StepFinding) -> str:
    if found.verdict == "undecided":
        return f"step {found.step + 1}: {found.reason}"
    numbers = ", ".join(map(str, found.reads))
    return (
        f"step {found.step + 1} says {found.said} where it reads ({numbers}); its rule "
        f"says {found.wanted}"
    )
