"""Templates to pages, and what all pages show: names, words, pictures, provenance."""

import base64
import hashlib
import io
import math
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.image import imsave

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.drawing import DrawingError, draw_machine, draw_model, render
from krohn.network.modelfile import LARGEST_FILE, ModelFile
from krohn.program.files import read_bytes
from krohn.program.quoting import on_a_line
from krohn.replaying import command_line

# Names and numbers as pages show them.


LONGEST_NAME, LONGEST_SENTENCE = 120, 600


def plain(text: object, limit: int = LONGEST_NAME) -> str:
    """A text from a file on one line, with what is not seen escaped as in Python."""
    return on_a_line(str(text), limit)


def name(text: object, limit: int = LONGEST_NAME) -> Markup:
    """The text, escaped for HTML, with a direction of its own."""
    return Markup("<bdi>{}</bdi>").format(plain(text, limit) or "(empty)")


def sentence(text: object) -> Markup:
    """A sentence of Krohn, with what it quotes by backticks as code."""
    whole = str(name(text, LONGEST_SENTENCE))
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", whole))


def at_most(value: float | None) -> str:
    """An upper bound with three digits, rounded up; None is unknown."""
    return _round_number(value, ROUND_CEILING)


def at_least(value: float | None) -> str:
    """A lower bound with three digits, rounded down; None is unknown."""
    return _round_number(value, ROUND_FLOOR)


def _round_number(value: float | None, rounding: str) -> str:
    if value is None:
        return "–"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = Context(prec=3, rounding=rounding).create_decimal_from_float(value)
    if 1e-3 <= abs(digits) < 10_000:
        return f"{digits.normalize():f}"
    mantissa, exponent = f"{digits:.2e}".split("e")
    return f"{mantissa} · 10{superscript(int(exponent))}"


def superscript(number: int) -> str:
    """A whole number as small raised digits."""
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


# A wrong word as a table: each letter with what is right and what was said.


SHOWN_LETTERS = 24


@dataclass(frozen=True)
class Row:
    """After a letter."""

    at: int
    letter: str
    expected: str
    actual: str


@dataclass(frozen=True)
class Wrong:
    """The last rows of a word.

    Attributes:
        rows: Those that are shown.
        hidden: How many come before them.
        length: Of the word, in letters.
    """

    rows: tuple[Row, ...]
    hidden: int
    length: int


def wrong(
    word: Sequence[str],
    expected: Sequence[str],
    actual: Sequence[str],
    shown: int = SHOWN_LETTERS,
) -> Wrong:
    """The letters of a wrong word with what is right and what was said after each.

    Args:
        word: The letters.
        expected: What is right after each; a generator also answers before the first.
        actual: What was said.
        shown: How many rows at most.
    """
    before = ["(start)"] * (len(expected) - len(word))
    rows = tuple(
        Row(at, letter, right, answer)
        for at, (letter, right, answer) in enumerate(
            zip([*before, *word], expected, actual, strict=True), start=1 - len(before)
        )
    )
    last = rows[-shown:]
    return Wrong(last, len(rows) - len(last), len(word))


# Pictures inside a page: data that is shown as an image, whatever names are in it.


@dataclass(frozen=True)
class Picture:
    """A picture, or why there is none.

    Attributes:
        title: What it shows.
        data: A ``data:`` address; empty if it could not be drawn.
        width: In pixels.
        height: In pixels.
        reason: Why it could not be drawn.
    """

    title: str
    data: str
    width: int
    height: int
    reason: str = ""


def of_machine(machine: Automaton) -> Picture:
    """States and arrows."""
    return _picture("The machine", lambda: draw_machine(machine))


def of_model(file: ModelFile) -> Picture:
    """The picture of the residual stream of a model."""
    return _picture("What lies where in the network", lambda: draw_model(file))


def _picture(title: str, draw: Callable[[], Figure]) -> Picture:
    try:
        figure = draw()
    except DrawingError as error:
        return Picture(title, "", 0, 0, str(error))
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Picture(title, _address("svg+xml", render(figure, ".svg")), width, height)


def of_pattern(weights: Sequence[Sequence[float]]) -> str:
    """A ``data:`` address of a pixel for each weight, a row for each position that looks.

    Colour goes by the square root of the weight, so that small weights are seen.
    """
    intensities = np.sqrt(np.clip(np.array(weights, dtype=np.float64), 0.0, 1.0))
    buffer = io.BytesIO()
    imsave(buffer, intensities, cmap="Blues", vmin=0.0, vmax=1.0, format="png")
    return _address("png", buffer.getvalue())


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


# The facts needed to do it again: the command, the versions, the bytes of the file.


PACKAGES = ("numpy", "torch", "safetensors", "ml-dtypes")
SOLVER = "z3-solver"


@dataclass(frozen=True)
class Provenance:
    """How a verdict came about.

    Attributes:
        command: A shell command.
        file: The name of the model file.
        size: In bytes.
        sha256: Of its bytes.
        versions: Of what took part, by name.
    """

    command: str
    file: str
    size: int
    sha256: str
    versions: dict[str, str]


def provenance(file: str, arguments: Sequence[str], method: str) -> Provenance:
    """The provenance of what ``krohn`` says of a model file.

    Raises:
        KrohnError: If the file cannot be read.
    """
    data = read_bytes(file, LARGEST_FILE)
    solver = [SOLVER] if method in ("smt", "gadgets") else []
    return Provenance(
        command(arguments),
        file,
        len(data),
        hashlib.sha256(data).hexdigest(),
        {"krohn": krohn.__version__, **dict(_versions([*PACKAGES, *solver]))},
    )


def command(arguments: Sequence[str]) -> str:
    """A command with its arguments, as a shell reads it."""
    line = command_line(["krohn", *arguments])
    return line or "krohn, with arguments that no command line can hold"


def _versions(packages: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "Python", platform.python_version()
    yield "machine", f"{platform.system()} {platform.machine()}"
    for package in packages:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


# Templates to pages: everything is escaped, nothing is fetched, no script runs.


def check_suffix(path: Path) -> None:
    """Refuse names that a browser would not take for a page.

    Raises:
        KrohnError: If it does not end in ``.html`` or ``.htm``.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise KrohnError(f"{path}: a page needs a name that ends in .html")


def render_page(
    template: str, facts: Mapping[str, Any], package: str = "krohn.page"
) -> str:
    """A page as text.

    Args:
        template: The name of its template.
        facts: What stands in it.
        package: Where the template is; those that all pages share are found from there.
    """
    places = [PackageLoader(each, ".") for each in (package, "krohn.page")]
    environment = Environment(
        loader=ChoiceLoader(places),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": name,
        "at_most": at_most,
        "at_least": at_least,
        "plain": plain,
        "sentence": sentence,
    }
    return environment.get_template(template).render(facts)
