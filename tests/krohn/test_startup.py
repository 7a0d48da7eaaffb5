"""What a command imports: nothing that it does not use."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "turnstile.dot"
SLOW = {
    *("torch", "sympy", "scipy", "networkx", "matplotlib", "z3", "jinja2"),
    *("automata", "pydot", "transformers"),
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
    ["--help", "zoo", "explain S3 -T 20", "decompose S3", f"explain {EXAMPLE} -T 20"],
)
def test_commands_without_a_network_are_light(command: str) -> None:
    assert not imported(*command.split())


def test_a_regular_expression_needs_only_its_parser_and_what_that_imports() -> None:
    assert imported("explain", "regex:(ab)*", "-T", "20") <= {"automata", "networkx"}
