"""A failure of the computer is no property of a network: it ends the command."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from source_code import nodes

import krohn
from krohn.verify import proof

HOME = Path(__file__).parents[1]
PACKAGES = (
    *("algebra", "architectures", "compiler", "instruments", "kinds"),
    *("krohn", "network", "program", "verify"),
)
BROAD = {"Exception", "BaseException", "MemoryError"}


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of the exceptions that a handler catches."""
    if handler.type is None:
        return {"BaseException"}
    return {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}


def is_passed_on(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def handlers_of_memory(module: Path) -> list[ast.ExceptHandler]:
    """The handlers that take a MemoryError for something else."""
    taken = []
    for node in nodes(module):
        for handler in node.handlers if isinstance(node, ast.Try) else ():
            names = caught(handler)
            if not names & BROAD:
                continue
            if not is_passed_on(handler):
                taken.append(handler)
            break  # none of those that follow is reached
    return taken


# Where memory that runs out is what is said, or is how Python refuses a text.
SAID = {
    "krohn/cli.py": 1,  # the one message, with exit code 2
    "instruments/batch/work.py": 1,  # a row that is tried again, not a result
    "kinds/sequence_functions/source_text.py": 1,  # ast.parse of a nested text
}


def test_no_handler_turns_the_end_of_memory_into_a_verdict_or_a_choice() -> None:
    taken = {}
    for package in PACKAGES:
        for path in sorted((HOME / package).rglob("*.py")):
            name = path.relative_to(HOME).as_posix()
            count = len(handlers_of_memory(path))
            if count:
                taken[name] = count
    assert taken == SAID


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", [MemoryError, AttributeError, TypeError])
def test_a_proof_that_fails_for_another_reason_than_a_rule_ends_compile(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object) -> None:
        raise kind("no such luck")

    monkeypatch.setattr(proof, "search", search)
    with pytest.raises(kind, match="no such luck"):
        krohn.compile("C2", 8)


def test_a_file_that_cannot_be_followed_is_undecided_but_not_for_want_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = krohn.compile("C2", 8).file

    def search_without(error: Exception) -> None:
        def search(*_: object) -> None:
            raise error

        monkeypatch.setattr(proof, "search", search)

    search_without(TypeError("no number"))
    shown = proof.prove(file, krohn.zoo("C2"))
    assert (shown.verdict, shown.length) == ("undecided", 8)
    search_without(np.exceptions.AxisError("no axis"))
    assert proof.prove(file, krohn.zoo("C2")).verdict == "undecided"
    search_without(MemoryError())
    with pytest.raises(MemoryError):
        proof.prove(file, krohn.zoo("C2"))


PRODUCT_WITHOUT_ROOM = """
import resource
import numpy as np
import krohn.network.precision
few = np.ones((300, 300))
with open("/proc/self/statm") as told:
    pages = int(told.read().split()[0])
most = pages * resource.getpagesize() + 2**21
resource.setrlimit(resource.RLIMIT_AS, (most, most))
few @ few
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_first_product_in_little_memory_does_not_end_the_process() -> None:
    """OpenBLAS does, with exit code 1, where it gets no buffer."""
    command = [sys.executable, "-c", PRODUCT_WITHOUT_ROOM]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
