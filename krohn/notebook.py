"""The pictures and tables that notebooks show of Krohn's objects, with escaped names.

Objects of `krohn` itself say it by methods of their own. Machines, cascades and Programs
come from packages that cannot know the drawings above them, for imports run downwards; so
`attach` gives them theirs when `krohn` is first used, and cascades when `krohn.decompose`
is.
"""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from krohn.algebra.automaton import Automaton
from krohn.program import Program
from krohn.program.quoting import listed

if TYPE_CHECKING:
    from krohn.algebra.cascade import Cascade
    from krohn.report import Report

MOST_NAMES = 12
HEIGHT = 720
"""Of a page in a notebook, in pixels; it scrolls."""


def attach() -> None:
    """Give machines and Programs what notebooks call."""
    setattr(Automaton, "_repr_svg_", _machine)  # noqa: B010  (mypy knows none)
    setattr(Program, "_repr_html_", program)  # noqa: B010


def attach_to_cascades(cascades: "type[Cascade]") -> None:
    """Give cascades what notebooks call; who hands them out does so."""
    setattr(cascades, "_repr_svg_", _cascade)  # noqa: B010


def _machine(source: Automaton) -> str | None:
    from krohn.drawing import draw_machine, svg

    return svg(lambda: draw_machine(source))


def _cascade(source: "Cascade") -> str | None:
    from krohn.drawing import draw_cascade, svg

    return svg(lambda: draw_cascade(source))


def program(written: Program) -> str:
    """The channels of a Program, a row each."""
    from krohn.show.network import operation

    rows = (
        (name, operation(each), _values(written, name), written.code(name))
        for name, each in written.operations.items()
    )
    return table(("channel", "operation", "values", "code"), rows)


def _values(written: Program, name: str) -> str:
    domain = written.domains.get(name, ())
    return listed(map(str, domain), MOST_NAMES)


def report(found: "Report") -> str:
    """A verdict and what it rests on."""
    rows = [("verdict", found.verdict), ("shown by", found.method)]
    if found.about is not None:
        rows += zip(("about", "answers"), found.about.lines(), strict=True)
    if found.verdict == "verified":
        rows.append(("covers", found.covers))
        if found.checked_by:
            rows.append(("checked by", found.checked_by))
    else:
        rows.append(("reason", found.reason))
    if found.words:
        rows.append(("words that were run", f"{found.words:,}"))
    if (wrong := found.counterexample) is not None:
        for what, names in (
            ("word", wrong.word),
            ("expected", wrong.expected),
            ("actual", wrong.actual),
        ):
            rows.append((what, " ".join(map(str, names))))
    rows += [("note", note) for note in found.notes]
    return table((), rows)


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{top}<tbody>{body}</tbody></table>"


def frame_page(page: str) -> str:
    """A page by itself inside another one, so that neither sees the other's styles."""
    return (
        f'<iframe srcdoc="{escape(page)}" width="100%" height="{HEIGHT}" '
        'style="border: 0" sandbox></iframe>'
    )
