"""The files that a proof of the kernel rests on: a statement, directives, and a reader."""

from pathlib import Path

from krohn.verify.trusted import Rests, TrustedFile

HERE = Path(__file__).parent
STATEMENTS = {
    "transformer": ("Machine", "Arithmetic", "Recurrent", "Softmax", "Transformer"),
    "rnn": ("Machine", "Arithmetic", "Recurrent"),
    "ssm": ("Machine", "Arithmetic", "Recurrent", "StateSpace"),
    "gated": ("Machine", "Arithmetic", "Recurrent", "Tanh", "Gated"),
}
"""The modules of the statement about each architecture; of each the part that defines."""
DIRECTIVES = ("Bits", "Extract")
READER = ("checked", "whole", "json", "files", "model", "main")
BESIDE = ("Coq with Flocq", "its extraction", "OCaml", "zarith with GMP")
THEOREMS = "(** * "
"""A heading of this form ends the part of a module that the statement consists of."""


def kernel_rests(architecture: str) -> Rests:
    """What a proof about a network rests on if the kernel says it.

    Args:
        architecture: Its name on file.
    """
    modules = STATEMENTS.get(architecture, STATEMENTS["gated"]) + DIRECTIVES
    paths = [HERE / "coq" / f"{name}.v" for name in modules]
    paths += [HERE / "ocaml" / f"{name}.ml" for name in READER]
    return Rests(tuple(map(_count_lines, paths)), (), BESIDE)


def _count_lines(path: Path) -> TrustedFile:
    """The lines of the part that is trusted; no blank ones and remarks are code."""
    lines = path.read_text("utf-8").splitlines()
    ends = (i for i, line in enumerate(lines) if line.startswith(THEOREMS))
    lines = lines[: next(ends, len(lines))]
    code, depth = 0, 0
    for line in lines:
        inside = depth > 0 or line.lstrip().startswith("(*")
        depth += line.count("(*") - line.count("*)")
        code += bool(line.strip()) and not inside
    name = f"krohn/verify/kernel/{path.parent.name}/{path.name}"
    return TrustedFile(name, len(lines), code)
