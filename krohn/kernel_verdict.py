"""The kernel's word on a verification: whether a function that Coq has proved agrees."""

from dataclasses import replace
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import STORED, ModelFile, pack
from krohn.network.precision import one_thread
from krohn.program.errors import Refused
from krohn.report import Report
from krohn.verify.checker.verdict import Proved, Speaker
from krohn.verify.kernel.asking import INSTALL, Answer, ask, find_kernel
from krohn.verify.proof import FAILURES
from krohn.verify.search.find import model_of
from krohn.verify.verdict import OfTensors


def chosen_kernel(which: str) -> Path | None:
    """The kernel that is asked for: as `krohn.checks.Checks.kernel` says; None for none.

    Raises:
        KrohnError: If it is required, or named, and not there.
    """
    if which == "none":
        return None
    kernel = find_kernel(None if which in ("auto", "require") else which)
    if kernel is None and which == "require":
        raise KrohnError(f"the kernel is not installed; {INSTALL}")
    return kernel


def ask_kernel(
    kernel: Path, file: ModelFile, data: bytes | None, report: Report
) -> Report:
    """The report, once the kernel was asked, if it covers such a file.

    What it proves it says itself. If it does not, the rules in Python keep the word, and
    the report says why.

    Args:
        kernel: The program.
        file: The contents of the model file.
        data: Its bytes, if it is on disk, of which the kernel makes its own contents.
        report: What the rules came to.
    """
    asked = report.proof is not None and report.verdict in ("verified", "undecided")
    if not asked or not file.claim.of_machine:
        return report
    if report.about is None or report.about.digest != file.claim.digest:
        answer = Answer(False, "the file claims another machine than is asked about")
    else:
        answer = _answer(kernel, file, data)
    if not answer.proved:
        return replace(report, kernel=answer.text)
    margin = report.ground.margin if isinstance(report.ground, Proved) else 0.0
    ground = answer.verdict(file.claim, margin)
    return replace(report, verdict="verified", reason="", ground=ground, heads=())


def demand_kernel(report: Report) -> Report:
    """The report, undecided if it is verified by somebody else than the kernel."""
    ground = report.ground
    while isinstance(ground, OfTensors):
        ground = ground.ground
    by_kernel = isinstance(ground, Proved) and ground.by is Speaker.KERNEL
    if report.verdict != "verified" or by_kernel:
        return report
    why = report.kernel or "it was not asked, or has no theorem about such a network"
    why = f"the kernel does not say it: {why.replace('the kernel ', 'it ', 1)}"
    return replace(report, verdict="undecided", reason=why, ground=None)


def _answer(kernel: Path, file: ModelFile, data: bytes | None) -> Answer:
    # where there is a kernel alone
    from krohn.verify.kernel.evidence import find_kernel_evidence

    try:
        with one_thread():
            evidence = find_kernel_evidence(model_of(file))
    except Refused as refused:
        return Answer(False, str(refused))
    except FAILURES as error:
        return Answer(False, f"the file cannot be followed ({type(error).__name__})")
    if data is None:
        header = {key: value for key, value in file.header.items() if key != STORED}
        data = pack(header, file.tensors)
    return ask(kernel, data, evidence)
