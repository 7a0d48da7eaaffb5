"""Verifying a model file: proof, exhaustive simulation, sampling, and their verdict."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.gpt2 import is_export
from krohn.gpt2 import verify as verify_export
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.network.trained import is_network
from krohn.open_target import open_target
from krohn.progress import Progress, silent
from krohn.report import Report, refuted, unrefuted
from krohn.sharding import Sharding
from krohn.source_kinds import of_file, wanted_source
from krohn.verification_target import (
    DEFAULT_SAMPLE_LENGTH,
    Target,
    Words,
    check_digest,
)
from krohn.verify.attention_limits.head_limits import head_bounds
from krohn.verify.proof import Proof, prove
from krohn.verify.testing.simulation_result import BUDGET, Simulation

if TYPE_CHECKING:
    from krohn.source_kinds.base import SourceKind
    from krohn.trained import Trained
    from krohn.verify.testing.counterexample import Counterexample

SCORES = 2**28
"""About so many scores of a head are computed for samples that nobody asked for."""
LONGEST_SAMPLE = 8192
"""Nor are these longer; scores grow with the square of the length."""


def verify(
    model: str | Path | ModelFile | CompiledModel,
    machine: object = None,
    *,
    proof: bool | None = None,
    exhaustive: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    budget: int = BUDGET,
    observation: str | None = None,
    length: int | None = None,
    sharding: Sharding | None = None,
    digest: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Decide whether a model computes a machine.

    A file without a Program cannot be proved; unless something else is asked for, it is
    examined (docs/independent.md). So is a trained network (docs/models.md).

    Args:
        model: What `krohn.compile` returns, a model file, or the file of a trained
            network.
        machine: What it must compute, from its start state (anything that
            `krohn.automaton` takes), or another source, as ``my.dp``; by default the one
            that the file itself names.
        proof: Whether to prove it for all words up to the claimed length. By default
            yes, unless only simulations are asked for.
        exhaustive: Run every word of up to this many letters.
        sample: Run this many random and adversarial words of full length.
        seed: Of the sampled words.
        budget: How many words may be run to make a wrong one minimal.
        observation: What to see of ``machine``, as in `krohn.compile`; by default its own
            outputs. Only for models that say outputs.
        length: The longest words to look at, if nothing is proved; by default those
            that the file claims, or has positions for.
        sharding: How to run every word: processes, memory, job file, cluster; by
            default by this process, in one sitting.
        digest: Of the claim that the verdict must be about, or its first digits, at
            least 8 (`krohn.program.claim`); by default any.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If the file is damaged, the alphabets do not fit, or its claim has
            another digest.
    """
    if is_export(model):
        others = exhaustive, sample, observation, length, sharding
        if any(x is not None for x in others) or proof is False:
            raise KrohnError(
                "a GPT-2 is proved; words are run by `krohn export`, and by its own library"
            )
        return verify_export(model, machine, digest, progress)
    began = time.monotonic()
    model = model.file if isinstance(model, CompiledModel) else model
    if (other := _other_source(model)) is not None:
        kind, file = other
        if any(x is not None for x in (observation, length, sharding)):
            raise KrohnError(
                "-T, --observe and jobs are for models of machines; this "
                f"file is about {kind.called}"
            )
        wanted = proof if proof is not None else not (exhaustive or sample)
        asked = None if machine is None else wanted_source(kind, machine)
        check_digest(about := kind.about(file, asked), digest)
        how = exhaustive, sample, seed, progress or silent, asked
        return replace(kind.verify(file, wanted, *how), about=about)
    if (trained := _trained(model, machine, observation)) is not None:
        _check_run(proof, sharding)
        return trained.examine(
            exhaustive=exhaustive,
            sample=sample,
            length=length,
            seed=seed,
            budget=budget,
            digest=digest,
            progress=progress,
        )
    _check_shared(sharding, exhaustive)
    target = open_target(model, machine, observation, progress or silent)
    check_digest(target.claim, digest)
    target = replace(target, budget=budget, asked=length, sharding=sharding)
    report = _decide(target, proof, Words(exhaustive, sample, seed))
    notes, seconds = (*target.notes, *report.notes), time.monotonic() - began
    return replace(report, about=target.claim, notes=notes, seconds=seconds)


def _other_source(
    model: str | Path | ModelFile,
) -> "tuple[SourceKind[Any], ModelFile] | None":
    """A file about a source that is no machine, and how that is verified."""
    if not isinstance(model, ModelFile) and is_network(model):
        return None
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    if "source" not in file.header:
        return None
    kind = of_file(file)
    return None if kind is None else (kind, file)


def _trained(
    model: str | Path | ModelFile,
    machine: object,
    observation: str | None,
) -> "Trained | None":
    if isinstance(model, ModelFile) or not is_network(model):
        return None
    from krohn.trained import open_trained  # torch, as for all that runs words

    return open_trained(model, machine, observation)


def _check_run(proof: bool | None, sharding: Sharding | None) -> None:
    if proof or sharding is not None:
        raise KrohnError(
            "a trained network is run by one process and cannot be proved; say "
            "--exhaustive N, --sample N, or neither"
        )


def _check_shared(sharding: Sharding | None, exhaustive: int | None) -> None:
    if sharding is not None and not exhaustive:
        raise KrohnError(
            "--jobs, --memory, --shard, --job and --cluster are for all words up to a "
            "length; say --exhaustive N as well"
        )


def _decide(target: Target, proof: bool | None, words: Words) -> Report:
    if target.asked and proof:
        raise KrohnError(
            "-T is for words that are run; a proof is about all words that the file claims"
        )
    wanted = proof if proof is not None else not (words or target.asked)
    asked = {"proof": wanted, "exhaustive": words.exhaustive, "sample": words.sample}
    method = "+".join(name for name, given in asked.items() if given)
    if (beyond := _beyond(target, words.exhaustive)) is not None:
        reason = f"the model is for words of up to {beyond} letters"
        return Report("out-of-range", method, reason, beyond, 0, "nothing")
    if proof or (target.provable and method):
        return _verify(target, method, wanted, words)
    words = words or _affordable(target, words.seed)
    return _conclude(target, None, _unproved(target), words)


def _beyond(target: Target, exhaustive: int | None) -> int | None:
    """The longest word of a network, if longer ones are asked about."""
    longest = target.claimed if target.provable else target.positions
    asked = target.asked or (None if target.provable else target.claimed)
    if longest is None or max(asked or 0, exhaustive or 0) <= longest:
        return None
    return longest


def _unproved(target: Target) -> str:
    """Why there is no proof."""
    if target.provable:
        return "no proof was asked for"
    return "the file has no Program, and a proof needs one"


def _verify(target: Target, method: str, proof: bool, words: Words) -> Report:
    progress = target.report("proving")
    done = prove(target.file, target.machine, progress) if proof else None
    if done is not None and done.verdict != "verified":
        return _search(target, method, done, words.seed)
    runs = words.run(target)
    failed = [r.counterexample for r in runs if r.counterexample]
    if failed:
        return _refuted(target, method, done, runs, failed[0])
    return Report(
        verdict="verified",
        method=method,
        reason="",
        length=target.length if proof else max(r.length for r in runs),
        words=sum(r.words for r in runs),
        covers=target.proved if proof else _said(runs),
        proof=done,
        runs=runs,
    )


def _said(runs: Sequence[Simulation]) -> str:
    return "; ".join(
        f"{r.words} words of up to {r.length} letters{r.about}" for r in runs
    )


def _refuted(
    target: Target,
    method: str,
    done: Proof | None,
    runs: Sequence[Simulation],
    found: "Counterexample",
) -> Report:
    return replace(refuted(runs, found, target.minimise, method), proof=done)


def _search(target: Target, method: str, done: Proof, seed: int) -> Report:
    """The proof failed: look for a word on which the network is wrong."""
    from krohn.verify.testing.counterexample import pair

    if done.word is not None:
        both = pair(target.model, target.machine, len(done.word))
        found = both.replay(np.array(done.word))
        if found is not None:
            return _refuted(target, method, done, [], found)
    return _conclude(target, done, done.reason, _affordable(target, seed))


def _affordable(target: Target, seed: int) -> Words:
    """All short words and long hard ones: what can be said without a proof."""
    from krohn.verify.testing.examination import SAMPLES, affordable

    length = target.length or DEFAULT_SAMPLE_LENGTH
    every = affordable(target.letters, length)
    longest = min(length, LONGEST_SAMPLE)
    rest = max(4, min(SAMPLES, SCORES // longest**2)) if every < length else None
    return Words(every, rest, seed, longest)


def _conclude(target: Target, done: Proof | None, reason: str, words: Words) -> Report:
    """What words say of a network that is not proved."""
    from krohn.verify.testing.examination import Examination

    runs = words.run(target)
    found = Examination(runs, target.length or DEFAULT_SAMPLE_LENGTH)
    if found.failed is not None and found.failed.counterexample is not None:
        wrong = found.failed.counterexample
        report = _refuted(target, found.method, done, runs, wrong)
    else:
        # Who asked for a proof did not ask how the words run here.
        all_asked = done is None and target.exhaustible
        report = unrefuted(found, target.letters, reason, all_asked)
    proved = "proof+" if done is not None else ""
    report = replace(report, proof=done, method=proved + report.method)
    with np.errstate(all="ignore"):  # weights may be as large as the format allows
        return replace(report, heads=head_bounds(target.file, target.machine))
