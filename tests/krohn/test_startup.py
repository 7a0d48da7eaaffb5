"""A command imports nothing that it does not use."""

import subprocess
import sys
from pathlib import Path

import pytest
from imported_code import imported_code

import krohn

EXAMPLE = Path(__file__).parents[2] / "examples" / "turnstile.dot"
SLOW = {
    *("torch", "sympy", "scipy", "networkx", "matplotlib", "z3", "jinja2"),
    *("automata", "lark", "transformers", "pydantic", "importlib.metadata"),
}

RUN = """
import sys
from krohn.cli import run
for command in sys.argv[1:]:
    code = run(command.split())
    print("modules:", code, *sys.modules)
"""


def all_imported(*commands: str) -> list[set[str]]:
    """The modules that are there after each of some commands of one process."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *commands], capture_output=True, text=True
    )
    said = [line.split() for line in done.stdout.splitlines() if "modules:" in line]
    assert [code for _, code, *_ in said] == ["0"] * len(commands), done.stderr
    return [set(modules) for _, _, *modules in said]


def imported(*commands: str) -> list[set[str]]:
    """The slow packages that are there after each of some commands of one process."""
    return [SLOW & modules for modules in all_imported(*commands)]


@pytest.mark.slow
def test_commands_without_a_network_and_proofs_are_light(tmp_path: Path) -> None:
    model, evidence = tmp_path / "s3.safetensors", tmp_path / "s3.json"
    *light, pattern = imported(
        *("--help", "--version", "zoo", "explain S3 -T 20", "explain C2 -T 16"),
        *("decompose S3", f"explain {EXAMPLE} -T 20", f"compile S3 -T 8 -o {model}"),
        f"verify {model} --proof --evidence {evidence}",
        f"recheck {model} {evidence}",
        "explain regex:(ab)* -T 20",
    )
    assert light == [set()] * 10
    # Its parser, what makes it minimal, and what that imports.
    assert pattern <= {"lark", "automata", "networkx", "importlib.metadata"}


@pytest.mark.slow
def test_reading_letter_by_letter_needs_no_torch(tmp_path: Path) -> None:
    model, recurrent, text = (str(tmp_path / f"{n}.safetensors") for n in "abc")
    krohn.compile("S3", 8, proof=False).save(model)
    krohn.compile("S3", arch="rnn", proof=False).save(recurrent)
    krohn.compile("LCS2,2", proof=False).save(text)
    runs = imported(f"run {model} 213", f"run {recurrent} 213", f"run {text} ab|ab")
    assert runs == [set(), set(), {"lark"}]  # the parser of dynamic programs


@pytest.mark.slow
def test_sixteen_bits_are_run_by_torch_and_little_else(tmp_path: Path) -> None:
    model = str(tmp_path / "s3.safetensors")
    krohn.compile("S3", 8, dtype="bfloat16", proof=False).save(model)
    (modules,) = imported(f"run {model} 213")
    # torch itself tries sympy, networkx and jinja2.
    assert modules <= {"torch", "sympy", "networkx", "jinja2", "importlib.metadata"}


@pytest.mark.slow
def test_running_and_verifying_a_network_need_little_code(tmp_path: Path) -> None:
    model = tmp_path / "s3.safetensors"
    krohn.compile("S3", 8, proof=False).save(model)
    limits = (
        (("run", model, "213"), 103),
        (("verify", model, "--kernel", "none"), 149),
        (("verify", model), 158),  # evidence is searched for the kernel if it is there
    )
    for command, most in limits:
        modules = imported_code(*command)
        assert len(modules) <= most  # lower them when less is imported
        # Errors have their names there.
        assert {n for n in modules if n.startswith("krohn.compiler")} == {
            "krohn.compiler"
        }


def test_names_of_sources_are_listed_without_the_sources() -> None:
    modules = imported_code("zoo")
    assert len(modules) <= 94  # lower it when less is imported
    parts = {name.rpartition(".")[2] for name in modules if ".kinds." in name}
    assert {part for part in parts if part.startswith("source")} == {"source_examples"}
    assert not {part for part in parts if part.startswith(("build", "commands"))}


def test_numpy_is_imported_without_its_lazy_parts(tmp_path: Path) -> None:
    model = str(tmp_path / "s3.safetensors")
    krohn.compile("S3", 8, proof=False).save(model)
    lazy = {"numpy.random", "numpy.ma"}
    commands = (f"run {model} 213", f"verify {model} --kernel none", "zoo")
    *plain, tables = all_imported(*commands)
    assert [(lazy | {"rich"}) & each for each in plain] == [set(), set()]
    assert not lazy & tables


def test_a_small_network_needs_little_code(tmp_path: Path) -> None:
    to = ("-T", 20, "-o", tmp_path / "flip-flop.safetensors")
    modules = imported_code("compile", "FlipFlop", *to)
    assert len(modules) <= 154  # lower both when less is imported; 35 are of slices
    assert sum(modules.values()) <= 25_000
