"""The sources beside machines, with exact reference interpreters."""

from pathlib import Path


def texts(module: str, suffix: str) -> dict[str, Path]:
    """The files of the folder ``catalogue`` beside a module, by name."""
    home = Path(module).parent / "catalogue"
    return {path.stem: path for path in sorted(home.glob(f"*{suffix}"))}


def first_line(path: Path) -> str:
    """The first line, which is a comment, without its mark."""
    text = path.read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("# ")
