"""The examples of docs/python.md run, and give the results that stand beside them."""

import ast
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
SHOWN = ("[", "('", "<", "tensor(")
"""How a comment begins that says a value."""


def test_every_line_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    checked = 0
    for block in blocks:
        lines = block.splitlines()
        exec(block, names)
        for node in ast.parse(block).body:
            _, _, comment = lines[(node.end_lineno or 1) - 1].partition("  # ")
            if comment.startswith(SHOWN) and isinstance(node, ast.Expr | ast.Assign):
                told = node.value if isinstance(node, ast.Expr) else node.targets[0]
                assert comment.startswith(repr(eval(ast.unparse(told), names)))
                checked += 1
    assert checked >= 7
