"""What a command imports: nothing that it does not use."""

import subprocess
import sys
from pathlib import Path

import pytest

import krohn

EXAMPLE = Path(__file__).parents[2] / "examples" / "turnstile.dot"
SLOW = {
    *("torch", "sympy", "scipy", "networkx", "matplotlib", "z3", "jinja2"),
    *("automata", "lark", "transformers"),
}

RUN = """
import sys
from krohn.cli import run
code = run(sys.argv[1:])
print("modules:", *{name.partition(".")[0] for name in sys.modules})
sys.exit(code)
"""


def imported(*arguments: str) -> set[str]:
    """The slow packages that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    modules = done.stdout.rsplit("modules:", 1)[1].split()
    return SLOW & set(modules)


@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "--version",
        "zoo",
        "explain S3 -T 20",
        "explain C2 -T 16",
        "decompose S3",
        f"explain {EXAMPLE} -T 20",
    ],
)
def test_commands_without_a_network_are_light(command: str) -> None:
    assert not imported(*command.split())


def test_proofs_need_no_torch(tmp_path: Path) -> None:
    model, evidence = str(tmp_path / "s3.safetensors"), str(tmp_path / "s3.json")
    assert not imported("compile", "S3", "-T", "8", "-o", model)
    assert not imported("verify", model, "--proof", "--evidence", evidence)
    assert not imported("recheck", model, evidence)


def test_running_words_needs_torch_and_little_else(tmp_path: Path) -> None:
    model = str(tmp_path / "s3.safetensors")
    krohn.compile("S3", 8, proved=False).save(model)
    modules = imported("run", model, "213")
    # torch itself tries sympy, networkx and jinja2.
    assert modules <= {"torch", "sympy", "networkx", "jinja2"}


def test_a_regular_expression_needs_only_its_parser_and_what_that_imports() -> None:
    assert imported("explain", "regex:(ab)*", "-T", "20") <= {"automata", "networkx"}
