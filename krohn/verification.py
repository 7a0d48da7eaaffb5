"""Verifying what is in a file: a model, a GPT-2, a trained network."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Unpack

from krohn.algebra.errors import KrohnError
from krohn.checks import RUN_WITH_FEW_DIGITS, Checks, VerifyKeywords
from krohn.foreign import directory_reader, is_state_dict, is_trained
from krohn.kernel_verdict import ask_kernel, chosen_kernel, demand_kernel
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.option_rules import HELD_IN_PYTHON, OF_SOURCES, refuse, whole
from krohn.program.quoting import kind_of_value
from krohn.program.slices import part
from krohn.report import Report
from krohn.source_kinds import machines, of_file, with_kind

if TYPE_CHECKING:
    from torch.nn import Module

    from krohn.verify.testing.few_digits import FewestDigits

DAMAGED = (
    "if `compile` proved this file, its weights have been changed or damaged since (the "
    "digest is of the claim, not of the weights)"
)

# The subjects of `krohn verify`: a model file, a GPT-2, a trained network.


class Subject(NamedTuple):
    """A model of which it can be decided what it computes.

    Attributes:
        called: What it is, for messages.
        takes: The options of `krohn verify` that matter; None for all.
        of_machine: Whether it is about a machine.
        verify: What becomes of it; raises KrohnError if an option has no effect.
        file: Its contents, if it is a model file.
        data: What was read of it, if it is on disk: the kernel judges the same bytes.
    """

    called: str
    takes: Collection[str] | None
    of_machine: bool
    verify: Callable[[Checks], Report]
    file: ModelFile | None = None
    data: bytes | None = None


def subject(model: object) -> Subject:
    """The subject of a verification: which kind of model it is, and how it is verified.

    Raises:
        KrohnError: If it cannot be read, or is no model.
    """
    if (reader := directory_reader(model)) is not None:
        verify = partial(reader.verify_directory, model)
        return Subject(reader.CALLED, reader.TAKES, True, verify)
    if isinstance(model, str | Path) and is_trained(model):
        return Subject("a trained network", None, True, partial(_verify_trained, model))
    file, data = _read_model(model)
    if file is None:
        return Subject(
            "a network in Python", None, True, partial(_verify_trained, model)
        )
    kind, of_machine = of_file(file), file.claim.of_machine
    takes = None if of_machine else OF_SOURCES + kind.asks
    called = f"a file about {kind.called}"
    return Subject(called, takes, of_machine, partial(kind.verify, file), file, data)


def _read_model(model: object) -> tuple[ModelFile | None, bytes | None]:
    """The file of a path with its bytes, or of a model in Python; None of others."""
    if isinstance(model, str | Path):
        data = modelfile.read_data(str(model))
        return modelfile.parse(data, str(model)), data
    from krohn.loading import file_of

    return file_of(model), None


def _verify_trained(model: object, checks: Checks) -> Report:
    """A recurrent network is proved; others, and files of which words are asked, run."""
    from krohn.examination import examine_file  # torch, as for all that runs words
    from krohn.trained_modules import LONG, about_tensors, check_forward

    if isinstance(model, str | Path) and not (checks.proves or is_state_dict(model)):
        return examine_file(model, checks)
    model_file = part("recurrent networks")
    file = model_file and model_file(model, checks.machine, checks.observe)
    if file is not None:
        kernel = chosen_kernel(checks.kernel)
        report = of_file(file).verify(file, checks)
        if kernel is not None:
            report = ask_kernel(kernel, file, None, report)
        if report.verdict == "verified":
            check_forward(model, file, LONG, proved=True)
        return about_tensors(model, file, report)
    if isinstance(model, str | Path):
        return examine_file(model, checks)
    raise KrohnError(
        f"{kind_of_value(model)} cannot be verified; krohn.verify takes a model, a file, "
        "a recurrent network of torch's or its state dict, and krohn.examine any function"
    )


# Verifying a model: a file, the directory of a GPT-2, or the file of a trained network.


def verify(
    model: object,
    machine: object = None,
    **options: Unpack[VerifyKeywords],
) -> Report:
    """Decide whether a model computes a machine.

    A file without a Program cannot be proved; unless something else is asked for, it is
    examined (docs/independent.md). So is a trained network (docs/models.md), unless it is
    recurrent: then it is proved, or refuted, for words of every length.

    Args:
        model: What `krohn.compile` returns or an open network, as they run now; a model
            file, or the file of a trained network; with a machine, a recurrent network
            of torch's from letter indices ``(batch, T)`` to logits, of which the tensors
            are judged, or its state dict (docs/architectures/gated.md).
        machine: What it must compute, from its start state (anything that
            `krohn.automaton` takes), or another source, as ``my.dp``; by default the one
            that the file itself names.
        **options: How it is verified, by the names in `krohn.checks.Checks`, and how the
            machine is read, by those in `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If the file is damaged, the alphabets do not fit, or its claim has
            another digest.

    Examples:
        >>> krohn.verify(krohn.compile("C2", 8)).covers
        'right on all 2^8 words of length 8, and all shorter, in float32'
    """
    checks = Checks(machine, **options)
    refuse(HELD_IN_PYTHON, vars(checks), checks.reading_options)
    if machine is not None:
        kind, wanted = with_kind(machine, checks)
        if kind is machines():
            checks = replace(checks.after_reading(), machine=wanted)
    return run_checks(model, checks)


def run_checks(model: object, checks: Checks) -> Report:
    """Verify a model by these checks."""
    began = time.monotonic()
    about = subject(model)
    if checks.digits is not None and about.file is None:
        raise KrohnError(f"--digits is for model files, and this is {about.called}")
    kernel = chosen_kernel(checks.kernel)
    report = _explain_damage(about.verify(checks), checks)
    if about.file is not None and kernel is not None:
        report = ask_kernel(kernel, about.file, about.data, report)
    if checks.kernel == "require":
        report = demand_kernel(report)
    if checks.digits is not None and about.file is not None:
        report = replace(report, digits=_find_fewest_digits(about.file, checks))
    return replace(report, seconds=time.monotonic() - began)


def _explain_damage(report: Report, checks: Checks) -> Report:
    """A report that says what it means if a file's own claim cannot be proved."""
    proof = report.proof
    failed = proof is not None and proof.verdict != "verified" and not proof.is_too_long
    if report.verdict != "undecided" or not failed or checks.machine is not None:
        return report
    return replace(report, notes=(*report.notes, DAMAGED))


def _find_fewest_digits(file: ModelFile, checks: Checks) -> "FewestDigits":
    """The fewest digits with which the network of a file is right, by runs."""
    from krohn.verify.testing.few_digits import DOUBLE, find_fewest_digits

    most, kind = whole(checks.digits, "digits", 1), of_file(file)
    if most > DOUBLE:
        raise KrohnError(f"numbers have up to {DOUBLE} binary digits, not {most}")
    inputs = checks.sample or RUN_WITH_FEW_DIGITS

    def is_right(network: "Module") -> bool:
        return kind.is_right_on(file, network, inputs, checks)

    tell = partial(checks.report, "running with few digits")
    return find_fewest_digits(file, most, is_right, inputs, tell)
