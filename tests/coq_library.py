"""The library for Coq, proved once for all tests of a session."""

import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from krohn.instruments.formal.coq import all_modules, compile_modules, coqc

with_coq = pytest.mark.skipif(not shutil.which("coqc"), reason="there is no coqc")
REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""What Coq's real numbers rest on."""


@cache
def library() -> Path:
    """A folder with all modules, proved, and what was extracted."""
    folder = Path(mkdtemp(prefix="krohn-coq-"))
    compile_modules(folder, all_modules())
    return folder


def axioms_of(name: str) -> set[str]:
    """What Coq says that a theorem of a module rests on."""
    module, _, _ = name.partition(".")
    asked = f"From Krohn Require {module}.\nPrint Assumptions {name}.\n"
    (library() / "asked.v").write_text(asked)
    ran = coqc(library(), "asked")
    assert ran.returncode == 0, ran.stderr
    return set(re.findall(r"^(\S+)", ran.stdout, re.M)) - {"Axioms:", ":"}
