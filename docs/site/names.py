"""The pages of public names: one for each, and links to them from their list."""

import inspect
import re
from pkgutil import resolve_name
from typing import Any

from mkdocs.structure.files import File, Files

import krohn

LIST = "reference/krohn.md"
LINE = re.compile(r"^- (krohn[\w.]*(?:\.\*)?)$", re.MULTILINE)
"""A line of the list; ``krohn.gadgets.*`` stands for all that the module offers."""
FOLDERS = FUNCTIONS, CLASSES = "functions", "classes"
"""Where pages lie. On some disks Stream.md and stream.md would be one file."""
REFERENCE = re.compile(
    r"<code>krohn\.(?P<name>[\w.]+)</code>|\bdocs/(?P<path>[\w/-]+\.md)\b"
)
"""What docstrings name."""
PAGE = """---
title: {name}
---
::: {place}
    options:
      heading: {name}
      toc_label: {name}
      heading_level: 1

[All names](../krohn.md)
"""


def with_links(text: str) -> str:
    """The list with a link and a summary for each name; what it leaves out comes last."""
    linked = LINE.sub(lambda line: "\n".join(map(_entry, _names(line[1]))), text)
    more = unlisted(text)
    return linked + ("\n## More\n\n" + "\n".join(map(_entry, more)) if more else "")


def pages(text: str) -> dict[str, str]:
    """The pages of all public names, by where they lie."""
    return {
        f"reference/{_place(name)}": PAGE.format(name=name, place=_defined(name))
        for name in [*listed(text), *unlisted(text)]
    }


def with_references(html: str, page: File, files: Files) -> str:
    """A page on which public names and documents that docstrings name are links."""

    def link(named: re.Match[str]) -> str:
        own = (f"reference/{folder}/{named['name']}.md" for folder in FOLDERS)
        found = filter(None, map(files.get_file_from_path, [*own, f"{named['path']}"]))
        file = next(found, page)
        there = file.url_relative_to(page)
        return named[0] if file is page else f'<a href="{there}">{named[0]}</a>'

    return REFERENCE.sub(link, html)


def listed(text: str) -> list[str]:
    """The names of the list."""
    return [name for line in LINE.findall(text) for name in _names(line)]


def unlisted(text: str) -> list[str]:
    """The public names that the list leaves out."""
    known = {*listed(text)}
    known |= {name.rpartition(".")[0] for name in known}  # modules
    return [n for n in (f"krohn.{n}" for n in krohn.__all__) if n not in known]


def _names(line: str) -> list[str]:
    """The names that a line stands for: those of a module that are defined elsewhere."""
    if not line.endswith(".*"):
        return [line]
    module = line.removesuffix(".*")
    found = {
        f"{module}.{name}": _object(f"{module}.{name}") for name in dir(_object(module))
    }
    return [name for name, each in found.items() if not inspect.ismodule(each)]


def _object(name: str) -> Any:
    """What has a name, without what checks its arguments."""
    module, _, own = name.rpartition(".")  # krohn.program is a function, and a package
    return inspect.unwrap(resolve_name(f"{module}:{own}"))


def _defined(name: str) -> str:
    """Where it is defined."""
    return f"{_object(name).__module__}.{_object(name).__qualname__}"


def _place(name: str) -> str:
    """The page of a name, as seen from the list."""
    folder = CLASSES if inspect.isclass(_object(name)) else FUNCTIONS
    return f"{folder}/{name.removeprefix('krohn.')}.md"


def _entry(name: str) -> str:
    """A line with a link to the page of a name and what its docstring begins with."""
    summary, *_ = (inspect.getdoc(_object(name)) or "").split("\n\n")
    return f"- [{name}]({_place(name)}): {' '.join(summary.split())}"
