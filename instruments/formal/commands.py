"""Theorems for Coq about model files: written as a folder that `make` proves."""

import resource
import shutil
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.instruments.formal.coq import copy, needed_modules
from krohn.network.modelfile import parse, read_data
from krohn.program.errors import Refused
from krohn.program.writing import whole_directory
from krohn.verify.kernel.asking import INSTALL, find_kernel, run
from krohn.verify.kernel.evidence import find_kernel_evidence
from krohn.verify.search.find import model_of

PACKAGES = "coq and libcoq-flocq of Debian"
THEOREM = "theorem"
MAKEFILE = """\
# `make` proves the theorem; `make check` has coqchk check all proofs again (a minute).
MODULES := {modules}

all: $(MODULES:=.vo)

check: all
\tcoqchk -silent -o -Q . Krohn Krohn.{theorem}

{rules}
%.vo: %.v
\tcoqc -q -Q . Krohn $<

clean:
\trm -f *.vo *.vok *.vos *.glob .*.aux
"""


@dataclass(frozen=True)
class Formal:
    """A theorem that was written for Coq.

    Attributes:
        directory: Its folder.
        says: The theorem in words.
        proved: Whether Coq accepted it; None if Coq was not asked.
        axioms: What Coq says that it rests on.
        seconds: CPU seconds of Coq.
        reason: Why it is not proved.
    """

    directory: str
    says: str
    proved: bool | None = None
    axioms: tuple[str, ...] = ()
    seconds: float = 0.0
    reason: str = ""

    def to_object(self) -> dict[str, Any]:
        """As ``krohn formal --json`` prints it."""
        return {**vars(self), "seconds": round(self.seconds, 2)}


def write(file: str | Path, directory: str | Path, prove: bool = False) -> Formal:
    """Write what Coq needs to prove a model file, and have it proved if asked.

    Args:
        file: A model file that the kernel can prove; its terms are what the kernel reads.
        directory: A new folder.
        prove: Whether to run Coq.

    Raises:
        KrohnError: If the file cannot be read, the kernel is not installed or does not
            prove it, the folder cannot be written, or Coq is to be run and is not
            installed.
    """
    if prove and not shutil.which("coqc"):
        raise KrohnError(f"coqc is not installed; it is in {PACKAGES}")
    kernel = find_kernel()
    if kernel is None:
        raise KrohnError(f"the kernel, which writes the terms, is missing; {INSTALL}")
    data = read_data(file)
    try:
        evidence = find_kernel_evidence(model_of(parse(data, file)))
    except Refused as refused:
        raise KrohnError(f"{file}: {refused}") from None
    code, says = run(kernel, data, evidence)
    if code:
        raise KrohnError(f"{file}: {says}")
    text = run(kernel, data, evidence, "--coq")[1]
    modules = needed_modules(text)
    with whole_directory(Path(directory)) as place:
        copy(modules, place)
        (place / f"{THEOREM}.v").write_text(text + "\n", encoding="utf-8")
        (place / "Makefile").write_text(_makefile(modules), encoding="utf-8")
    written = Formal(str(directory), says.removeprefix("proved: "))
    return run_coq(written) if prove else written


def _makefile(modules: list[str]) -> str:
    names = (*modules, THEOREM)
    rules = (f"{b}.vo: {a}.vo" for a, b in pairwise(names))
    return MAKEFILE.format(
        modules=" ".join(names), theorem=THEOREM, rules="\n".join(rules)
    )


def run_coq(written: Formal) -> Formal:
    """The theorem, once Coq has been asked by `make` in its folder."""
    before = _seconds()
    ran = subprocess.run(
        ["make", "-s", "-C", written.directory],
        capture_output=True,
        text=True,
        check=False,
    )
    entries = {
        **vars(written),
        "seconds": _seconds() - before,
        "proved": not ran.returncode,
    }
    if ran.returncode:
        lines = [line for line in ran.stderr.splitlines() if line.strip()]
        return Formal(**{**entries, "reason": " ".join(lines[-4:])})
    return Formal(**{**entries, "axioms": _axioms(ran.stdout)})


def _axioms(output: str) -> tuple[str, ...]:
    """The names after ``Axioms:``, as `Print Assumptions` lists them."""
    lines = output.partition("Axioms:")[2].splitlines()
    first = (line.split(":")[0].strip() for line in lines if line[:1].strip())
    return tuple(first)


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
