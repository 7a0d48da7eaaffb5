"""The page of a comparison on a hidden Markov model."""

from typing import Any

from krohn.comparison.belief_headline import Line, headline, lines
from krohn.comparison.belief_result import BeliefComparison
from krohn.page.belief_charts import charts, triangles
from krohn.page.curves import COLOURS, Chart, inline
from krohn.page.rendering import rendered
from krohn.page.summary import duration


def render(found: BeliefComparison) -> str:
    """The page as text: no scripts, and nothing is fetched."""
    rows: list[Line] = lines(found)
    facts: dict[str, Any] = {
        "found": found,
        "headline": headline(found),
        "columns": list(rows[0].cells),
        "rows": rows,
        "charts": charts(found),
        "triangle": _triangle(found),
        "probed": [m for m in found.models if m.ones[0].probes],
        "duration": duration,
    }
    return rendered("beliefs.html", facts)


def _triangle(found: BeliefComparison) -> Chart | None:
    if not found.geometry:
        return None
    title = "beliefs, exact and as read after the last layer"
    picture = inline(triangles(found.geometry, COLOURS["soft"]), title)
    remark = (
        "Each point is a belief after some word; a corner is a state that is sure. Read "
        "by least squares, fitted on other words; colours are those of the exact belief."
    )
    return Chart(title, picture, remark)
