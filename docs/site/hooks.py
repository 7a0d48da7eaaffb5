"""The parts that `make docs` adds to the folder of documents, and its checks at the end."""

import json
import re
from pathlib import Path

from links import broken
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from tables import with_tables
from tutorials import FOLDER, pages
from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

import krohn
from krohn import cli, schemas

ROOT = Path(__file__).parents[2]
NAMES = "reference/krohn.md"
SCHEMAS = "schemas.md"
COMMANDS = "commands.md"
MOVED = (
    (re.compile(r"\]\(\.\./((?:\.\./)*(?:examples|results)/)"), r"](\1"),
    (re.compile(r"(\]\((?:\.\./)*tutorials/[\w-]+)\.py"), r"\1.md"),
    (re.compile(r"\]\(\.\./((?:\.\./)*)CONTRIBUTING\.md"), r"](\1contributing.md"),
    (re.compile(r"\]\(\.\./((?:\.\./)*)CLAIMS\.md"), r"](\1claims.md"),
)
"""Where links of documents lead to on pages: what they name lies beside the folder."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add executed tutorials, schemas, and what lies beside the folder of documents."""
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
    lists = {NAMES: unlisted, SCHEMAS: listed, COMMANDS: options}
    more = lists.get(page.file.src_uri)
    return markdown if more is None else markdown + more(markdown)


def listed(_: str) -> str:
    """The table of all schemas, each with its file."""
    rows = (
        f"| [{name}](schemas/{name}.json) | {schemas.VERSIONS[name]} | {about} |\n"
        for name, about in schemas.ABOUT.items()
    )
    return "\n## All schemas\n\n| name | version | of |\n|---|---|---|\n" + "".join(
        rows
    )


def options(_: str) -> str:
    """Every command with its arguments and options, as its help has them."""
    command = get_command(cli.application())
    return "\n" + get_docs_for_click(
        obj=command, ctx=Context(command), indent=1, name="krohn", title="All options"
    )


def unlisted(markdown: str) -> str:
    """The public names that the page of them does not put under a heading."""
    names = [n for n in krohn.__all__ if f" krohn.{n}\n" not in markdown]
    return "\n## More\n\n" + "".join(f"::: krohn.{n}\n" for n in names) if names else ""


def on_post_build(config: MkDocsConfig) -> None:
    """Check the built pages.

    Raises:
        PluginError: If a link leads nowhere or something would be fetched.
    """
    if found := broken(Path(config.site_dir)):
        raise PluginError("\n".join(found))
