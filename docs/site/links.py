"""Links of built pages: each leads to a file and an anchor that are there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href"}
"""Tags whose address a browser fetches, with the attribute that holds it."""


@dataclass
class Page(HTMLParser):
    """The anchors and addresses of a page.

    Attributes:
        anchors: What a link may name behind ``#``.
        links: Where a reader can go.
        fetched: What a browser loads with the page.
    """

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag names and where it leads."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if FETCHED.get(tag) in given:
            self.fetched.add(given[FETCHED[tag]])


def read(path: Path) -> Page:
    """A page of a site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(site: Path) -> list[str]:
    """Each address of a site that leads nowhere, or is fetched from elsewhere."""
    found = {path.resolve(): read(path) for path in sorted(site.rglob("*.html"))}
    del found[(site / "404.html").resolve()]  # its addresses depend on the server
    return [
        f"{path.relative_to(site.resolve())}: {wrong}"
        for path, page in found.items()
        for wrong in _wrong(path, page, found)
    ]


def _wrong(path: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    for address in sorted(page.links | page.fetched):
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") or parts.netloc:
            if address in page.fetched:
                yield f"{address} is fetched from elsewhere"
            continue
        if parts.scheme:  # mail, or data within the page
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            yield f"{address} leads nowhere"
        elif parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
            yield f"{address} has no such anchor"
