"""Deciding by SMT whether the ideal network of a model file computes a machine."""

from pathlib import Path
from typing import Any

from algebra.automaton import Automaton
from algebra.errors import KrohnError
from algebra.shown import shown
from krohn.verification import Job, Progress, Report, open_job
from network.modelfile import ModelFile
from verify.counterexample import Counterexample
from verify.smt.network import Decision, Question, question
from verify.smt.solver import Limits

IDEAL = "the ideal network: hard attention over the rationals, nothing rounded"


def verify_ideal(
    model: str | Path | ModelFile,
    length: int,
    machine: Automaton | str | Path | None = None,
    *,
    seconds: float = 60.0,
    seed: int = 0,
    smt_lib: str | Path | None = None,
    observation: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Decide by z3 whether the ideal network computes a machine on short words.

    The ideal network has the weights of the file as rational numbers, rounds nothing, and
    its heads take the value at a largest score instead of a softmax. This says nothing
    about the network in its number format, which `krohn.verify` proves; docs/smt.md.

    Args:
        model: A model file of a Transformer.
        length: The longest word.
        machine: What it must compute; by default the machine that the file names.
        seconds: The longest time for the question of each length.
        seed: Of the solver.
        smt_lib: A file for the question in SMT-LIB 2, for other solvers.
        observation: As in `krohn.verify`.
        progress: As in `krohn.verify`.

    Returns:
        A report by the method ``smt``; ``undecided`` if the solver gives up.

    Raises:
        KrohnError: If the network is none that SMT can decide, the file is damaged, or
            the alphabets do not fit.
    """
    job = open_job(model, machine, observation, progress or (lambda *_: None))
    asked = question(job.file, job.machine, length)
    if smt_lib is not None:
        _write(Path(smt_lib), asked)
    found = asked.decide(Limits(seconds, seed), job.report("asking z3"))
    return _report(job, found, length)


def _write(path: Path, asked: Question) -> None:
    try:
        path.write_text(asked.smt_lib(), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise KrohnError(f"cannot write {path}: {reason}") from error


def _report(job: Job, found: Decision, length: int) -> Report:
    rest: dict[str, Any] = {"words": 0, "seconds": found.seconds}
    if found.verdict == "refuted":
        reason = (
            f"{IDEAL}, is wrong at letter {len(found.word)} of this word, replayed in "
            "fractions"
        )
        wrong = _counterexample(job, found)
        shown_wrong = {"counterexample": wrong, "covers": "one word", **rest}
        return Report("refuted", "smt", reason, found.length, **shown_wrong)
    if found.verdict == "undecided":
        reason = f"z3 gave up after {found.length} letters: {found.reason}"
        return Report("undecided", "smt", reason, length, covers="nothing", **rest)
    letters = len(job.machine.letters)
    covers = (
        f"all {letters}^{length} words of length {length}, and all shorter, on {IDEAL}"
    )
    return Report("verified", "smt", "", length, covers=covers, **rest)


def _counterexample(job: Job, found: Decision) -> Counterexample:
    """Before the last letter the network is right, or the word would be shorter."""
    shows = job.file.header["claim"].get("shows", "states")
    names = shown(job.machine, shows).names
    expected = tuple(names[c] for c in found.expected)
    word = tuple(job.machine.letters[a] for a in found.word)
    return Counterexample(word, expected, (*expected[:-1], names[found.said]))
