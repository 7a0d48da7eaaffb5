"""Every command that writes a file or a folder says which."""

from pathlib import Path

import pytest
from help_examples import GROUP, TRAINING
from slices_here import brought_by_deleted, needs

import krohn
from krohn import cli
from krohn.algebra import zoo

COMMANDS = {
    "attention": ("attention {g} -o {out}.svg", ("instruments.compare",)),
    "batch": ("batch {table} -o {out}.csv", ("instruments.batch",)),
    "compile": ("compile C2 -T 4 -o {out}.safetensors", ()),
    "crasp": ("crasp regex:a*b -T 4 -o {out}.crasp", ("kinds.counting",)),
    "decompile": ("decompile {hmm} -o {out}.json", ("kinds.posterior_heads",)),
    "decompose": ("decompose S3 -o {out}.json", ()),
    "draw": ("draw C2 -o {out}.svg", ()),
    "explain": ("explain C2 -T 4 -o {out}.svg", ()),
    "export": ("export {c2} --to huggingface -o {out}", ("architectures.exports",)),
    "learn": ("learn {c2} -o {out}.json", ("instruments.learning",)),
    "texts": ("texts LCS2,2 -n 20 -o {out}", ("kinds.dynamic_programs",)),
    "zoo": ("zoo -o {out}.svg", ()),
}
SLOW = {TRAINING, "formal"}
"""Commands that train, or need the kernel; their own tests run them."""


def test_every_command_that_writes_is_here() -> None:
    writers = {
        name
        for name, command in GROUP.commands.items()
        if any("--output" in each.opts for each in command.params)
    }
    gone = brought_by_deleted("commands")
    assert writers == ({*COMMANDS} | SLOW) - gone


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=needs(*slices)) for n, (_, slices) in COMMANDS.items()],
)
def test_what_is_written_is_said(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Which machines are on the sheet of all is no matter here.
    monkeypatch.setattr(zoo, "names", lambda: ("C2", "C3"))
    typed, _ = COMMANDS[name]
    places = {n: tmp_path / n for n in ("out", "table", "c2", "g", "hmm")}
    places["table"].write_text("machine,length\nC2,4\n")
    if "{c2}" in typed:
        krohn.compile("C2", 4).save(places["c2"])
    if "{hmm}" in typed:
        krohn.compile("Mess3", 16, within=0.01).save(places["hmm"])
    if "{g}" in typed:
        krohn.compile_generator("Dyck2,2", 16).save(places["g"])
    arguments = [word.format(**places) for word in typed.split()]
    assert cli.run(arguments) == 0
    told = capsys.readouterr()
    written = arguments[arguments.index("-o") + 1]
    assert f"wrote {written}" in told.out or f"drew {written}" in told.out
    assert Path(written).exists()
