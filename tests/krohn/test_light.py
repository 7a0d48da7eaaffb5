"""Where only numpy, safetensors, typer and rich are, files are run and checked."""

import json
from pathlib import Path

import pytest
from help_examples import in_order, put_files, read, written
from hidden_packages import all_but_light, python, run

import krohn
from krohn import schemas
from krohn.program.extras import EXTRAS, install
from krohn.program.slices import slice_schemas

EXAMPLE = Path(__file__).parents[2] / "examples" / "turnstile.dot"
WORD = ("coin", "push", "coin", "card")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models of a machine: as a Transformer, in sixteen bits, as an RNN."""
    home = tmp_path_factory.mktemp("models")
    krohn.compile(EXAMPLE, 16).save(home / "turnstile.safetensors")
    krohn.compile(EXAMPLE, 8, dtype="bfloat16").save(home / "half.safetensors")
    krohn.compile(EXAMPLE, arch="rnn").save(home / "rnn.safetensors")
    return home


def test_files_are_run_and_checked(home: Path) -> None:
    file, half, rnn = (home / f"{n}.safetensors" for n in ("turnstile", "half", "rnn"))
    evidence = home / "evidence.json"
    done = run(
        all_but_light(),
        *(["--help"], ["verify", "--help"], ["schema"], ["zoo"]),
        *(["run", file, *WORD], ["run", file, *WORD, "--json"], ["run", rnn, *WORD]),
        *(["verify", file], ["verify", half], ["verify", rnn, "--json"]),
        ["verify", file, "--proof", "--trusted"],
        ["verify", file, "--machine", EXAMPLE],
        ["verify", file, "--evidence", evidence],
        ["recheck", file, evidence],
    )
    assert [(code, err) for code, _, err in done] == [(0, "")] * len(done)
    for answer in (done[4], done[6]):
        assert answer[1].split() == ["thanks", "through", "thanks", "welcome"]
    assert json.loads(done[5][1])["states"] == ["paid", "locked", "paid", "member"]


@pytest.mark.slow
def test_the_schemas_of_what_is_printed_here_are_printed() -> None:
    """Those of slices whose commands need torch are theirs."""
    own = [name for name in schemas.ABOUT if name not in slice_schemas()]
    done = run(all_but_light(), *(["schema", name] for name in own))
    assert [(code, err) for code, _, err in done] == [(0, "")] * len(own)
    for name, (_, printed, _) in zip(own, done, strict=True):
        assert json.loads(printed)["$id"] == schemas.identifier(name)


IN_PYTHON = """
import krohn
file, half = sys.argv[1:]
network = krohn.load(file)
print(network.run(["coin", "push"]), network.run([["coin"], ["card"]], states=True))
print(krohn.verify(file).verdict, krohn.verify(half).verdict)
for wrong in (
    lambda: krohn.load(half).run(["coin"]),
    lambda: krohn.load(file, device="cpu"),
    lambda: krohn.draw(file, "picture.svg"),
    lambda: krohn.Model,
    lambda: krohn.workbench.graph,
    lambda: network.places(),
):
    try:
        wrong()
    except (krohn.KrohnError, AttributeError) as error:
        print(error)
"""


def test_files_are_run_and_checked_in_python(home: Path) -> None:
    files = [str(home / f"{name}.safetensors") for name in ("turnstile", "half")]
    answers, verdicts, *refusals = python(all_but_light(), IN_PYTHON, *files)
    assert answers == "['thanks', 'through'] [['paid'], ['member']]"
    assert verdicts == "verified verified"
    who = ["this network", *(f"krohn.{n}" for n in ("load", "draw", "Model"))]
    who += ["krohn.workbench", "places of a network"]
    lacks = ["matplotlib" if each == "krohn.draw" else "torch" for each in who]
    assert refusals == [
        f"{each} needs {package}: {install('compile')}"
        for each, package in zip(who, lacks, strict=True)
    ]


MISSING: list[dict[str, tuple[object, ...]]] = [
    {
        "torch": ("run", "half.safetensors", "coin"),
        "z3": ("verify", "turnstile.safetensors", "--smt", 2),
        "matplotlib": ("draw", "turnstile.safetensors", "-o", "picture.svg"),
        "jinja2": ("verify", "turnstile.safetensors", "--html", "page.html"),
        "lark": ("explain", "regex:(ab)*"),
        "ml_dtypes": ("compile", "C2", "-T", 4, "--dtype", "bfloat16", "-o", "new"),
    },
    {
        "scipy": ("verify", "turnstile.safetensors", "--sample", 4),
        "networkx": ("draw", EXAMPLE, "-o", "picture.svg"),
        "automata": ("explain", "regex:(ab)*"),
    },
    {
        "transformers": ("compare", "C2", "--runs", "runs"),
        "aalpy": ("learn", "turnstile.safetensors"),
        "onnx": ("export", "turnstile.safetensors", "--to", "onnx", "-o", "onnx"),
        "transformer_lens": (
            *("export", "turnstile.safetensors"),
            *("--to", "transformer-lens", "-o", "lens"),
        ),
        "distributed": (
            *("verify", "turnstile.safetensors"),
            *("--exhaustive", 2, "--cluster", "local:1"),
        ),
    },
]
"""Commands that need each package, told apart by what else is missing beside it."""


@pytest.mark.slow
@pytest.mark.parametrize("commands", MISSING, ids=["light", "compile", "others"])
def test_a_command_names_the_extra_that_it_lacks(
    commands: dict[str, tuple[object, ...]], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    light = "torch" in commands
    hidden = all_but_light() if light else set(commands)
    for package, done in zip(commands, run(hidden, *commands.values()), strict=True):
        command = f"krohn {commands[package][0]}"
        extras = [e for e, packages in EXTRAS.items() if package in packages]
        extra = next((e for e in extras if command.endswith(e)), extras[0])
        who = command if "export" not in command else f"an export to {extra}"
        says = f"krohn: {who} needs {package}: {install(extra)}\n"
        assert done == (2, "", says)


@pytest.mark.slow
def test_each_example_of_help_works_or_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is missing is one that an example before would have written."""
    put_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    typed, not_written = in_order(), set[str]()
    for words, (code, _, said) in zip(typed, run(all_but_light(), *typed), strict=True):
        extra = next((e for e in EXTRAS if install(e) in said), None)
        lacks_file = read(words, not_written)
        asked = [e for e in EXTRAS if e in words and e != "compile"]
        assert not code or lacks_file or not asked or extra in asked, (words, said)
        assert code == 0 or (code == 2 and (extra or lacks_file)), (words, said)
        not_written |= written(words) if code else set()
        assert "Traceback" not in said
