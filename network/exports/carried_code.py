"""The code that an export carries: modules of Krohn, in files beside one another.

Hugging Face's library runs code of a directory if it is asked to. It copies files that
import each other by names in the same folder, so ``krohn.network.cache`` becomes
the module ``krohn_network_cache``, and imports are all that is changed.
"""

import ast
import re
from collections.abc import Sequence
from importlib.util import find_spec

from krohn.network import ExportError
from krohn.program.files import read_bytes

HERE = "krohn.network.exports."
LARGEST = 2**20
IMPORTS = re.compile(r"^(\s*from )(krohn\.[\w.]+)(?= import )", re.MULTILINE)
NAMED = re.compile(r'(?<=")(krohn\.[\w.]+)(?=:\w+")')
"""The module of a class that is named by a text, as the runtimes are."""


def carried(module: str, named: Sequence[str] = ()) -> dict[str, str]:
    """The files of a module and of all that it imports of Krohn, by their names.

    Args:
        module: Its whole name.
        named: Modules that it asks for by names, which are imported first.

    Raises:
        ExportError: If one of them is no file.
    """
    waiting, found = [module, *named], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if (file := f"{_stem(name)}.py") in found:
            continue
        text = _source(name)
        found[file] = _rewritten(name, text, named if name == module else ())
        waiting += [
            node.module
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom)
            and node.module is not None
            and node.module.startswith("krohn.")
        ]
    return found


def _source(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ExportError(f"{module} is no file, so its code cannot be written")
    return read_bytes(spec.origin, LARGEST).decode("utf-8")


def _stem(module: str) -> str:
    """The name of its file; those that the library asks for are called as it likes."""
    return module.removeprefix(HERE).replace(".", "_")


def _rewritten(module: str, text: str, named: Sequence[str]) -> str:
    text = IMPORTS.sub(lambda m: f"{m[1]}.{_stem(m[2])}", text)
    text = NAMED.sub(lambda m: f".{_stem(m[1])}", text)
    first = text.index("\nfrom ") + 1
    asked = "".join(f"from .{_stem(each)} import __name__ as _\n" for each in named)
    path = module.replace(".", "/")
    return f"# {path}.py of Krohn; Apache-2.0.\n{text[:first]}{asked}{text[first:]}"
