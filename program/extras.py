"""Optional packages: which extra of Krohn brings each, and what is said without it."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from krohn.program.errors import KrohnError

EXTRAS = {
    "compile": (
        *("torch", "scipy", "networkx", "matplotlib", "jinja2", "lark"),
        *("automata", "z3", "ml_dtypes", "threadpoolctl"),
    ),
    "huggingface": ("transformers",),
    "transformer-lens": ("transformer_lens",),
    "onnx": ("onnx", "onnxruntime"),
    "compare": ("transformers",),
    "learn": ("aalpy",),
    "cluster": ("distributed",),
}
"""By extra of ``pyproject.toml``, what it brings, by the names that are imported.

Each extra brings also what `compile` brings.
"""


@contextmanager
def name_missing_extra(
    who: str, error: type[KrohnError] = KrohnError, words: Iterable[str] = ()
) -> Iterator[None]:
    """Say which extra brings a package that is imported inside and is not installed.

    Args:
        who: Who needs it, as a message begins: ``krohn learn``.
        error: What is raised in place of the `ImportError`.
        words: What was typed. An extra that is named there is asked for: without torch
            an export ``--to onnx`` needs what `onnx` brings, too.

    Raises:
        KrohnError: If a package of `EXTRAS` cannot be imported; of this type.
    """
    try:
        yield
    except ImportError as reason:
        package = (reason.name or "").partition(".")[0]
        extra = _extra(package, [*words, *who.replace(".", " ").split()])
        if extra is None:
            raise
        missing = isinstance(reason, ModuleNotFoundError)
        why = "" if missing else f" ({' '.join(str(reason).split())})"
        raise error(f"{who} needs {package}{why}: {install(extra)}") from None


def _extra(package: str, words: list[str]) -> str | None:
    """The extra that brings a package: one that is named, or the first."""
    common = EXTRAS["compile"]
    bring = [e for e, packages in EXTRAS.items() if package in (*common, *packages)]
    return next((extra for extra in bring if extra in words), next(iter(bring), None))


def install(extra: str) -> str:
    """The command that installs an extra of Krohn, from where Krohn came.

    Args:
        extra: Its name in ``pyproject.toml``.
    """
    return f"pip install '{_origin()}[{extra}]'"


def import_folder() -> Path:
    """The folder that holds the package ``krohn``: of a checkout its root.

    It is asked of the package, because modules are moved.
    """
    return Path(str(sys.modules["krohn"].__file__)).resolve().parents[1]


def _origin() -> str:
    """A checkout, the wheel or folder that pip has installed, or the name in an index."""
    root = import_folder()
    if (root / "pyproject.toml").is_file():
        return str(root)
    try:
        from importlib.metadata import distribution

        came_from = json.loads(
            distribution("krohn").read_text("direct_url.json") or "{}"
        )
        return str(came_from["url"]).removeprefix("file://")
    except (ImportError, ValueError, KeyError):
        return "krohn"
