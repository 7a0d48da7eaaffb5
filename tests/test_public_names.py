"""Public names: one dict, and functions keep their names beside packages."""

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from slices_here import about_all, here
from source_code import nodes

import krohn

SOURCE = Path(krohn.__file__)
USES: tuple[str, ...] = (
    "import krohn; assert krohn.verify.__doc__.startswith('Decide')",
    "import krohn.verify.checker.network as v; assert callable(v.recheck)",
    "import krohn.program.claim as c; assert callable(c.Claim.of)",
    "from krohn.verify.proof import prove; assert callable(prove)",
)
if here("instruments.workbench"):
    USES += (
        "import krohn, krohn.workbench as w; assert krohn.workbench.graph is w.graph",
    )
if here("instruments.gadgets"):
    USES += ("import krohn, krohn.gadgets as g; assert krohn.gadgets.gate is g.gate",)
if here("kinds.sequence_functions"):
    USES += ("from krohn import program; assert program.__doc__.startswith('A seq')",)


@about_all
def test_type_checkers_see_the_same_names() -> None:
    (block,) = (
        node
        for node in nodes(SOURCE)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {
        alias.asname: statement.module
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen.pop("huggingface") == "krohn"
    assert seen == krohn.public_names()


@pytest.mark.parametrize("name", krohn.public_names())
def test_a_name_is_that_of_its_module(name: str) -> None:
    own = getattr(import_module(krohn.public_names()[name]), name)
    public = getattr(krohn, name)
    assert getattr(public, "__wrapped__", public) is own


def test_names_of_packages_are_known() -> None:
    named = {n for n in krohn.public_names() if find_spec(f"krohn.{n}")}
    assert {n for n in krohn.PACKAGES if n in krohn.public_names()} == named


@pytest.mark.slow
@pytest.mark.parametrize("first", range(len(USES)))
def test_functions_and_packages_are_used_in_any_order(first: int) -> None:
    script = "\n".join([*USES[first:], *USES[:first]])
    subprocess.run([sys.executable, "-c", script], check=True)
