"""Documents and docstrings name files, folders and modules that are there."""

import ast
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest
import toys
from slices_here import about_all
from source_code import nodes

ROOT = Path(__file__).parents[1]
PACKAGES = (
    *("algebra", "network", "program", "jobs", "compiler", "verify"),
    *("kinds", "architectures", "instruments", "krohn", "benchmarks", "examples"),
)
FOLDERS = (*PACKAGES, "docs", "tests", "results")
PAGES = sorted(
    path.relative_to(ROOT)
    for where in (ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"))
    for path in where
)
SOURCES = sorted(
    p.relative_to(ROOT)
    for n in (*PACKAGES, "docs/tutorials")
    for p in (ROOT / n).rglob("*.py")
)

FILE = re.compile(r"(?<![\w./*:-])[\w/-]*\w\.(?:py|md)\b(?!/)")
FOLDER = re.compile(rf"(?<![\w./-])(?:{'|'.join(PACKAGES)})/[\w/-]*(?![\w.*/-])")
NAME = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+)[`(]")
PRIVATE = re.compile(r"`(?:\w+\.)?(_[a-z]\w*)[`(]")
# Names of examples: a script to be saved, networks to compare with.
EXAMPLES = {
    "reader.py",
    *("network.inside", "network.layers", "network.longest"),
}


@cache
def files() -> frozenset[str]:
    """All files, as `docs/page.md` and by every shorter end, `page.md`.

    So are those that a page shows.
    """
    paths = [p for n in FOLDERS for p in (ROOT / n).rglob("*") if p.is_file()]
    parts = [p.relative_to(ROOT).parts for p in [*paths, *ROOT.glob("*.*")]]
    parts += [Path(name).parts for name in toys.files()]
    return frozenset("/".join(p[i:]).lower() for p in parts for i in range(len(p)))


@cache
def is_there(name: str) -> bool:
    """Whether a file has this name; one in capitals stands for any name."""
    return Path(name).stem.isupper() or name.lower() in files()


@cache
def is_folder(name: str) -> bool:
    """Whether it is a folder, or a module without its ending."""
    path = ROOT / name.rstrip("/")
    return path.is_dir() or path.with_suffix(".py").is_file() or path.is_file()


@cache
def is_name(name: str) -> bool:
    """Whether it is a module, or something that its last module defines or hands on."""
    at, *rest = name.split(".")
    if at not in ("krohn", "benchmarks", "examples"):
        return False  # the folders are packages of krohn
    path = ROOT / at
    while rest and ((path / rest[0]).is_dir() or (path / f"{rest[0]}.py").is_file()):
        path /= rest.pop(0)
    module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return not rest or {*rest} <= defined(module) or is_public(name)


def is_public(name: str) -> bool:
    """Whether it is public, or an attribute of a public name of `krohn`."""
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True


@cache
def defined(module: Path) -> frozenset[str]:
    """The names that a module and its classes define or import."""
    found = set[str]()
    for node in nodes(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


@cache
def every_name() -> frozenset[str]:
    """The names that any module defines or imports."""
    return frozenset[str]().union(*(defined(ROOT / path) for path in SOURCES))


def missing(text: str) -> list[str]:
    """The names in a text that do not exist."""
    text = re.sub(r"https?://\S+", "", text)
    found = [
        *(x for x in FILE.findall(text) if not is_there(x)),
        *(x for x in FOLDER.findall(text) if not is_folder(x)),
        *(x for x in NAME.findall(text) if not (is_there(x) or is_name(x))),
        *(x for x in PRIVATE.findall(text) if x not in every_name()),
    ]
    return [name for name in found if name not in EXAMPLES]


@about_all
def test_what_is_named_is_there() -> None:
    every = {path: missing((ROOT / path).read_text()) for path in [*PAGES, *SOURCES]}
    assert {path: names for path, names in every.items() if names} == {}


LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([\w./-]*)(?:#([\w-]*))?\)")


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(map(heading, page.read_text().splitlines()))


@about_all
def test_links_lead_somewhere() -> None:
    for path in PAGES:
        for target, anchor in LINK.findall((ROOT / path).read_text()):
            page = (ROOT / path).parent / target if target else ROOT / path
            assert page.exists(), (path, target)
            assert not anchor or anchor in anchors(page), (path, target, anchor)


def heading(line: str) -> str:
    """The anchor of a heading."""
    kept = re.sub(r"[^\w\s-]", "", line.lstrip("#").strip().lower())
    return kept.replace(" ", "-") if line.startswith("#") else ""


@pytest.mark.parametrize(
    "text",
    [
        "Lemma 1 (`verify/nothing.py`)",
        "verify/nothing.py, line 3",
        "the folder verify/nothing/ has it",
        "`nothing.py`",
        "see docs/nothing.md",
        "`krohn.verify.nothing.prove` does it",
        "`verify.proof.prove` is no name that one can import",
        "`krohn.verify.proof.nothing(F)` does it",
        "`_no_such_name` does it, and `Noisy._no_such_name(x)`",
    ],
)
def test_what_is_not_there_is_found(text: str) -> None:
    assert len(missing(text)) > 0


def test_what_is_there_is_not_reported() -> None:
    text = "`compiler/cost.py`, `cost.py`, verify/checker/, `krohn.verify.proof`, X.py"
    assert missing(text) == []


ARROW = re.compile(r"^\| [^|]+ \| ([^|]*`\w+`[^|]*) \| ([^|]*`[\w/.]+`[^|]*) \|$", re.M)


def test_every_arrow_is_where_the_architecture_says() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    rows = ARROW.findall(text.partition("## The arrows")[2].partition("\n## ")[0])
    assert len(rows) == 11
    for functions, places in rows:
        paths = [ROOT / place for place in re.findall(r"`([\w/.]+)`", places)]
        modules = [m for p in paths for m in (p.glob("*.py") if p.is_dir() else [p])]
        named = frozenset[str]().union(*map(defined, modules))
        assert named >= {*re.findall(r"`(\w+)`", functions)}


@about_all
def test_the_reference_names_what_there_is() -> None:
    pages = [path.read_text() for path in (ROOT / "docs/reference").glob("*.md")]
    names = re.findall(
        r"^(?::::|-) (krohn\S*?)(?:\.\*)?$", "\n".join(pages), re.MULTILINE
    )
    assert names
    for name in names:
        pkgutil.resolve_name(name)
