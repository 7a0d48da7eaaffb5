"""Verifying a model: a file, the directory of a GPT-2, or the file of a trained network."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from krohn.checks import Checks, VerifyKeywords
from krohn.compiled_model import CompiledModel
from krohn.network.modelfile import ModelFile
from krohn.report import Report
from krohn.subjects import subject


def verify(
    model: str | Path | ModelFile | CompiledModel,
    machine: object = None,
    **options: Unpack[VerifyKeywords],
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
        **options: How it is verified, by the names in `krohn.checks.Checks`.

    Raises:
        KrohnError: If the file is damaged, the alphabets do not fit, or its claim has
            another digest.
    """
    return decided(model, Checks(machine, **options))


def decided(model: str | Path | ModelFile | CompiledModel, checks: Checks) -> Report:
    """The same, as checks say it."""
    began = time.monotonic()
    report = subject(model).verify(checks)
    return replace(report, seconds=time.monotonic() - began)
