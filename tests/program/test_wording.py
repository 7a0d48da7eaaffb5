"""Messages that name options are said to who reads them: in Python, by parameters."""

import ast
import re
from pathlib import Path

from source_code import nodes

from krohn.program.slices import GROUPS
from krohn.program.wording import in_python

ROOT = Path(__file__).parents[2]
ADVICE = re.compile(r"--[a-z][a-z-]* [a-z][a-z0-9]+")
"""An option with a name as its value, if it is the whole of a text."""


def test_values_of_options_that_are_advised_are_texts_in_python() -> None:
    advised = {
        node.value
        for folder in ("krohn", "compiler", "verify", *GROUPS)
        for path in sorted((ROOT / folder).glob("**/*.py"))
        for node in nodes(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and ADVICE.fullmatch(node.value)
    }
    assert "--dtype float64" in advised
    for text in advised:
        option, value = text.lstrip("-").split(" ")
        assert in_python(text) == f"{option.replace('-', '_')}={value!r}"
