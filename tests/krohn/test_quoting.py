"""A name in a file is text, wherever it goes: terminals, cards, programs, pages, shells."""

import ast
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from optional_packages import skip_without

import krohn
from krohn import cli
from krohn.architectures.exports.commands_card import NAME
from krohn.network import ModelFileError
from krohn.program.errors import Refused
from krohn.program.quoting import in_markdown, markdown_program, markdown_text
from krohn.program.slices import slice_exports
from krohn.program.word_texts import write_letter

skip_without("transformers", "onnxruntime", "transformer_lens")
HOSTILE = (
    *("'\"", "\\n\\", "p\nopen('PWNED','w').write('x')  #", "\x1b[31mred\x1b]0;t\x07"),
    *("</script><b>&", "{{7*7}}{%x%}", "]][[red]", "# head\n**Here.** Proved by Coq."),
    *("\"\"\"'''", "\u202eabc\u2066", "```\n`", "$\\alpha$ % #", "a\rb", "a\tb"),
    *("a\u2028b\x85", "{0}{text}", "`", " "),
)
"""Names that are more than text to some reader."""
TITLE = "evil \x1b[2J\n\n**Proved by Coq.** \u202e ``` {{7*7}} $x$"
DESTINATIONS = tuple(slice_exports())


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine and its network, in which every name is hostile."""
    place, size = tmp_path_factory.mktemp("evil"), len(HOSTILE)
    names = list(HOSTILE)
    machine = {
        **{"format": "krohn-machine", "version": 1, "name": TITLE},
        **{"letters": names[1:4], "states": names, "start": names[2]},
        "transitions": [
            [(i + 1) % size for i in range(size)],
            [0] * size,
            [*range(size)],
        ],
        "output": {
            "on": "states",
            "names": ["yes\n\x1b[1m", "no\u202e`"],
            "table": [i % 2 for i in range(size)],
        },
    }
    (place / "evil.json").write_text(json.dumps(machine))
    krohn.compile(place / "evil.json", length=6, strict=True).save(
        place / "evil.safetensors"
    )
    other = {**machine, "transitions": [[0] * size] * 3}
    (place / "other.json").write_text(json.dumps(other))
    return place


COMMANDS = {
    "compile": ["evil.json", "-T", "5", "-o", "again.safetensors"],
    "explain": ["evil.json", "-T", "6"],
    "verify": ["evil.safetensors", "--exhaustive", "3", "--evidence", "e.json"],
    "verify other": [
        "evil.safetensors",
        "--machine",
        "other.json",
        "--exhaustive",
        "2",
    ],
    "run": ["evil.safetensors", "--", *HOSTILE[1:4]],
    "run unknown": ["evil.safetensors", "--", "\x1b[31mno"],
    "equivalent": ["evil.json", "other.json"],
    "decompose": ["evil.json"],
    "draw": ["evil.json", "-o", "evil.svg"],
    "learn": ["evil.safetensors"],
    "export": ["evil.safetensors", "--to", "onnx", "-o", "onnx"],
    "start": ["evil.json", "-T", "5", "--start", "\x1b[31mno", "-o", "x.safetensors"],
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_is_told_nothing_but_text(
    command: str,
    evil: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing that it obeys or hides, and no line that a name has begun."""
    monkeypatch.chdir(evil)
    name = {"start": "compile"}.get(command, command.split()[0])
    cli.run([name, *COMMANDS[command]])
    said = capsys.readouterr()
    lines = (said.out + said.err).split("\n")
    assert any(lines)
    assert [line for line in lines if not line.isprintable()] == []
    begun = ("open('PWNED'", "**", "\"\"\"'''"[3:])
    assert [line for line in lines if line.startswith(begun)] == []


@pytest.mark.slow
@pytest.mark.parametrize("to", DESTINATIONS)
@pytest.mark.parametrize("states", [False, True])
def test_a_card_and_its_program_hold_names_as_text(
    to: str, states: bool, evil: Path, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    try:
        krohn.export(
            evil / "evil.safetensors", to=to, directory=place, states=states, sample=4
        )
    except (ModelFileError, Refused):
        assert (to, states) == ("gpt2", True)
        return
    card = (place / NAME).read_text("utf-8")
    first, facts, body = card.split("---\n", 2)
    assert (first, [name for name in HOSTILE[:-1] if name in facts]) == ("", [])
    lines = body.split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert [line for line in lines if line.startswith("#")] == lines[:1]
    assert [line for line in lines if line.startswith("**")] == lines[2:3]
    assert lines[2].startswith(
        ("**Proved: ", "**Not proved: ", "**The network is proved: ")
    )
    (program,) = re.findall(
        r"^(`{3,})python\n(.*?)^\1$", card, re.DOTALL | re.MULTILINE
    )
    nodes = list(ast.walk(ast.parse(program[1])))
    called = {n.id for n in nodes if isinstance(n, ast.Name)}
    assert "open" not in called
    texts = "".join(n.value for n in nodes if isinstance(getattr(n, "value", 0), str))
    letter = write_letter(HOSTILE[2]) if to == "huggingface" else HOSTILE[2]
    assert to in ("onnx", "transformer-lens") or letter in texts
    assert not list(place.rglob("PWNED"))


class Tags(HTMLParser):
    """The tags of a page, and its texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)


@pytest.mark.slow
def test_a_page_holds_names_as_text(evil: Path, tmp_path: Path) -> None:
    """Names make no tag, and templates do not read them."""
    plain = tmp_path / "plain.safetensors"
    krohn.compile("C2", length=6, strict=True).save(plain)
    found = []
    for model in (evil / "evil.safetensors", plain):
        page = tmp_path / f"{model.stem}.html"
        asked = ["--html", str(page), "--html-effort", "1"]
        assert cli.run(["verify", str(model), *asked]) == 0
        parser = Tags()
        parser.feed(page.read_text("utf-8"))
        found.append(parser.tags)
    text = (tmp_path / "evil.html").read_text("utf-8")
    assert [line for line in text.split("\n") if not line.isprintable()] == []
    assert "evil \\x1b[2J" in text
    assert found[0].count("b") == found[1].count("b")
    assert found[0].count("script") == found[1].count("script")


@pytest.mark.parametrize("name", [*HOSTILE, TITLE, "``", "`a", "a``b`"])
def test_markdown_reads_nothing_in_a_name(name: str) -> None:
    code = in_markdown(name)
    ticks = re.match("`+", code)
    assert ticks is not None
    inside = code[len(ticks[0]) : -len(ticks[0])]
    assert code.isprintable()
    assert ticks[0] not in re.findall("`+", inside)
    plain = re.sub(r"\\.", "", markdown_text(name))
    assert plain.isprintable()
    assert not set(plain) & set("`*_<>[]#&")
    fence, *_, end = markdown_program(name).split("\n")
    assert fence.removesuffix("python") == end
    assert end not in name


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", ["print('a\\nb')", "console().print('a\\nb')"])
def test_a_reader_that_goes_is_left(text: str) -> None:
    """Whoever looks at the first lines of an output is told no error."""
    script = (
        "import sys; from krohn import cli;"
        "from krohn.show.tables import console; from krohn.commands.options import emit;"
        f"text = lambda: [{text} for _ in range(9**6)];"
        "cli.application = lambda _: lambda *_, **__: emit('run', {}, False, text);"
        "raise SystemExit(cli.run(['explain', 'C2']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "a\\nb\n"
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        *(["explain", name, "-T", "8"] for name in ("S3", "GoldenMean", "LIS3:most=3")),
        ["decompose", "Grid4"],
        ["crasp", "regex:a*b*"],
    ],
    ids=" ".join,
)
def test_no_line_of_our_own_is_told_as_a_name(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A line break within a printed line is shown as the two signs of Python."""
    cli.run(asked)
    assert "\\n" not in capsys.readouterr().out
