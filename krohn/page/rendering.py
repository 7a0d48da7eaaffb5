"""Templates to pages: everything is escaped, nothing is fetched, no script runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from krohn.algebra.errors import KrohnError
from krohn.page import texts


def check_suffix(path: Path) -> None:
    """Refuse names that a browser would not take for a page.

    Raises:
        KrohnError: If it does not end in ``.html`` or ``.htm``.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise KrohnError(f"{path}: a page needs a name that ends in .html")


def rendered(template: str, facts: Mapping[str, Any]) -> str:
    """A page as text."""
    environment = Environment(
        loader=PackageLoader("krohn.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": texts.name,
        "at_most": texts.at_most,
        "at_least": texts.at_least,
        "plain": texts.plain,
    }
    return environment.get_template(template).render(facts)
