"""The parts that `make docs` adds to the folder of documents, and its checks at the end."""

import json
import re
from pathlib import Path

from links import broken
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from names import LIST, pages as pages_of_names, with_links, with_references
from tables import with_tables
from tutorials import FOLDER, pages
from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

from krohn import cli, schemas

ROOT = Path(__file__).parents[2]
SCHEMAS = "schemas.md"
PICTURE = re.compile(r'<img [^>]*src="([^":]+)"[^>]*>')
COMMANDS = "commands.md"
MOVED = (
    (re.compile(r"\]\(\.\./((?:\.\./)*(?:examples|results)/)"), r"](\1"),
    (re.compile(r"(\]\((?:\.\./)*tutorials/[\w-]+)\.py"), r"\1.md"),
    (re.compile(r"\]\(\.\./((?:\.\./)*)CONTRIBUTING\.md"), r"](\1contributing.md"),
    (re.compile(r"\]\(\.\./((?:\.\./)*)CLAIMS\.md"), r"](\1claims.md"),
)
"""Where links of documents lead to on pages: what they name lies beside the folder."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add executed tutorials, names, schemas, and what lies beside the folder."""
    for script in sorted(FOLDER.glob("*.py")):
        for name, content in pages(script).items():
            uri = f"tutorials/{name}"
            if (committed := files.get_file_from_path(uri)) is not None:
                files.remove(committed)
            files.append(File.generated(config, uri, content=content))
    for name in ("CHANGELOG.md", "CLAIMS.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text().replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=text))
    for name in schemas.ABOUT:
        text = json.dumps(schemas.schema(name), ensure_ascii=False, indent=1)
        files.append(File.generated(config, f"schemas/{name}.json", content=text))
    for uri, text in pages_of_names((ROOT / "docs" / LIST).read_text()).items():
        hidden = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, uri, content=text, inclusion=hidden))
    for path in sorted((ROOT / "examples").iterdir()):
        if path.is_file():
            uri = f"examples/{path.name}"
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    for path in sorted((ROOT / "results").rglob("*.csv")):
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Show tables, let links lead into the site instead of out of the folder, add lists."""
    if page.file.abs_src_path is not None:
        markdown = with_tables(markdown, Path(page.file.abs_src_path))
    for pattern, place in MOVED:
        markdown = pattern.sub(place, markdown)
    lists = {LIST: with_links, SCHEMAS: with_schemas, COMMANDS: with_options}
    filled = lists.get(page.file.src_uri)
    return markdown if filled is None else filled(markdown)


def on_page_content(html: str, page: Page, files: Files, **_: object) -> str:
    """Let pictures, small on a phone, lead to themselves, and what is named to its page."""
    html = PICTURE.sub(r'<a href="\1">\g<0></a>', html)
    named = page.file.src_uri.startswith("reference/")
    return with_references(html, page.file, files) if named else html


def with_schemas(markdown: str) -> str:
    """The table of all schemas, each with its file."""
    rows = (
        f"| [{name}](schemas/{name}.json) | {schemas.VERSIONS[name]} | {about} |\n"
        for name, about in schemas.ABOUT.items()
    )
    head = "\n## All schemas\n\n| name | version | of |\n|---|---|---|\n"
    return markdown + head + "".join(rows)


def with_options(markdown: str) -> str:
    """Every command with its arguments and options, as its help has them."""
    command = get_command(cli.application())
    return f"{markdown}\n" + get_docs_for_click(
        obj=command, ctx=Context(command), indent=1, name="krohn", title="All options"
    )


def on_post_build(config: MkDocsConfig) -> None:
    """Check the built pages.

    Raises:
        PluginError: If a link leads nowhere or something would be fetched.
    """
    if found := broken(Path(config.site_dir)):
        raise PluginError("\n".join(found))
