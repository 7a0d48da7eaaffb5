"""Slices of another distribution: a folder each, and nothing of Krohn knows of them.

The page that shows how slices are made is what is tested: `toys.install` installs it.
"""

import json
import re
from pathlib import Path

import pytest
from slices_here import needs
from toys import Done, files, install, krohn, python, typed

ROOT = Path(__file__).parents[1]
RESTS = "; this rests on a checker of the distribution krohn-toys"
FIRST = """digraph first {
  begin [shape=point]
  begin -> none
  none -> A [label=a]
  none -> B [label=b]
  A -> A [label="a,b"]
  B -> B [label="a,b"]
}
"""
"""A machine whose first letter decides."""


real_vectors = needs("architectures.linear_recurrence")
exports = needs("architectures.exports")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the distribution is installed."""
    place: Path = tmp_path_factory.mktemp("site")
    install(place)
    (place / "first.dot").write_text(FIRST)
    return place


def succeeded(done: list[Done]) -> list[str]:
    """What commands have printed, none of which has failed."""
    assert [each.code for each in done] == [0] * len(done), done
    return [each.out for each in done]


def test_krohn_knows_nothing_of_them() -> None:
    folders = ("krohn", "algebra", "compiler", "verify", "network", "program")
    for folder in (*folders, "kinds", "architectures", "instruments"):
        for path in (ROOT / folder).rglob("*.py"):
            assert "krohn_toys" not in path.read_text(), path


@real_vectors
def test_the_page_prints_what_commands_print(site: Path) -> None:
    commands, printed = zip(*typed(), strict=True)
    for out, said in zip(succeeded(krohn(site, *commands)), printed, strict=True):
        assert re.sub(r"\d\.\d\d s", "0.00 s", out) == said


@pytest.mark.slow
@real_vectors
def test_a_kind_is_compiled_proved_run_explained_and_listed(site: Path) -> None:
    (site / "five.gain").write_text("5\n")
    (site / "bad.gain").write_text("five\n")
    model = "g3.safetensors"
    *done, bad, large = krohn(
        site,
        f"compile ToyGain3 -T 4 -o {model}",
        f"verify {model} --proof --sample 20 --json",
        f"verify {model} --machine five.gain",
        f"run {model} 0.5 0.75",
        "explain five.gain --json",
        "zoo",
        "--help",
        "schema model",
        "schema explain",
        "compile bad.gain -T 4 -o x.safetensors",
        "compile ToyGain61 -T 4 -o x.safetensors",
    )
    other = done.pop(2)
    assert other.code == 2
    assert "the network has another factor" in other.out
    _, verified, said, facts, zoo, usage, stated, explained = succeeded(done)
    assert json.loads(verified)["covers"].endswith(f"in float64{RESTS}")
    assert said.split() == ["4", "6"]
    assert json.loads(facts)["factor"] == 32
    assert "ToyGain3" in zoo
    assert ".gain" in usage
    assert '"toy-gain"' in stated
    assert "GainFacts" in explained
    assert (bad.code, bad.err) == (2, "krohn: bad.gain: 'five' is no power\n")
    assert (large.code, large.err) == (2, "krohn: a power is at most 60\n")


@pytest.mark.slow
def test_an_architecture_is_compiled_proved_run_and_explained(site: Path) -> None:
    model = "s3.safetensors"
    *done, drawn, unknown, built = krohn(
        site,
        f"compile S3 --arch toy -o {model} --json",
        f"verify {model} --proof --exhaustive 3 --json",
        f"run {model} 132 213",
        "explain S3 --arch toy",
        "compile --help",
        "explain --help",
        "schema model",
        f"draw {model} -o x.svg",
        "compile S3 --arch toi -o x.safetensors",
        "compile S3 --arch toy --construction elman -o x.safetensors",
    )
    made, verified, said, facts, *usage, stated = succeeded(done)
    covers = f"right on all words of every length over 5 letters, in float32{RESTS}"
    assert json.loads(made)["covers"] == json.loads(verified)["covers"] == covers
    assert said.split() == ["132", "231"]
    assert re.search(r"units +30\b", facts)
    for text in usage:
        assert re.search(r"--arch.*\btoy\b", text)
    assert '"const": "toy"' in stated
    assert (drawn.code, drawn.err) == (2, "krohn: a switched RNN has no picture\n")
    assert "did you mean toy?" in unknown.err
    assert "a switched RNN is built by 'pairs', not by 'elman'" in built.err


@pytest.mark.slow
def test_an_operation_is_lowered_chosen_and_proved(site: Path) -> None:
    model = "first.safetensors"
    *done, refused = krohn(
        site,
        f"compile first.dot -T 6 -o {model} --json",
        f"verify {model} --proof --exhaustive 6 --json",
        f"run {model} b a b",
        "explain first.dot -T 6 --json",
        "compile --help",
        "schema model",
        "compile FlipFlop -T 6 --construction toy-first-letter -o x.safetensors",
    )
    made, verified, said, facts, usage, stated = succeeded(done)
    assert json.loads(made)["construction"] == "toy-first-letter"
    assert json.loads(verified)["covers"].endswith(RESTS)
    assert said.split() == ["B", "B", "B"]
    assert json.loads(facts)["chosen"] == "toy-first-letter"
    assert "toy-first-letter" in "".join(usage.split())  # lines break at hyphens
    assert '"toy-initial"' in stated
    assert "a letter after the first one moves the state" in refused.err


@pytest.mark.slow
@exports
def test_an_export_is_written_read_back_and_proved(site: Path) -> None:
    made, exported, usage, refused = krohn(
        site,
        "compile C3 --arch toy -o c3.safetensors",
        "export c3.safetensors --to toy-arrays -o c3 --sample 20 --json",
        "export --help",
        "export c3.safetensors --to toy-array -o c4",
    )
    told = json.loads(succeeded([made, exported])[1])
    assert (told["verdict"], told["deviation"], told["wrong"]) == ("verified", 0, 0)
    assert told["proved"].endswith(RESTS)
    assert (site / "c3/arrays.npz").is_file()
    assert "toy-arrays" in "".join(usage.out.split())
    assert "toy-arrays" in refused.err


@pytest.mark.slow
@exports
@pytest.mark.parametrize(
    ("to", "library"),
    [
        ("onnx", "onnxruntime"),
        pytest.param("huggingface", "transformers", marks=pytest.mark.slow),
    ],
)
def test_a_network_goes_where_others_go(site: Path, to: str, library: str) -> None:
    """What its slice declares is enough; its code is carried where code is."""
    pytest.importorskip(library)
    model, place = f"{to}.safetensors", site / to
    made = f"-q compile C2 --arch toy -o {model}"
    done = krohn(site, made, f"export {model} --to {to} -o {to} --sample 9 --json")
    assert json.loads(succeeded(done)[1])["wrong"] == 0
    carried = (place / "krohn_toys_switched_meaning.py").is_file()
    assert carried is (to == "huggingface")


@pytest.mark.slow
def test_an_instrument_is_a_command_a_function_and_a_schema(site: Path) -> None:
    done = krohn(
        site,
        "-q compile S3 -T 4 -o plain.safetensors",
        "--help",
        "letters plain.safetensors",
        "letters plain.safetensors --json",
        "schema letters",
    )
    _, usage, count, told, schema = succeeded(done)
    assert "letters  " in usage
    assert count == "5\n"
    assert json.loads(told) == {"schema": "urn:krohn:schema:letters:1", "letters": 5}
    assert "How many letters there are." in schema
    script = "import krohn; print(krohn.letters_of('plain.safetensors'))"
    assert python(site, script) == "5\n"


@pytest.mark.slow
@real_vectors
def test_a_proof_says_whose_checker_it_rests_on(site: Path) -> None:
    done = krohn(
        site,
        "-q compile ToyGain1 -T 2 -o g1.safetensors",
        "verify g1.safetensors --trusted --json",
        "verify g1.safetensors --trusted",
        "-q verify g1.safetensors --evidence g1.json",
        "recheck g1.safetensors g1.json --json",
        "-q compile C2 -T 2 -o c2.safetensors",
        "verify c2.safetensors --kernel none --trusted --json",
    )
    _, trusted, text, _, checked, _, own = succeeded(done)
    assert RESTS in text
    assert json.loads(checked)["facts"]["covers"].endswith(RESTS)
    told = json.loads(trusted)["trusted"]
    ran = {file["file"]: file["ran"] for file in told["each"]}
    for name in ("check", "statement"):
        assert ran[f"krohn_toys/gain/{name}.py"] > 0
    assert "krohn_toys/gain/build.py" not in ran
    assert told["libraries"] == []
    assert "krohn-toys" not in json.loads(own)["covers"]


DAMAGE = """
import sys
from dataclasses import replace
import krohn
from krohn.network import modelfile

for name, tensor, index in [
    ("ToyGain2", "skip.weight", (0, 0)),
    ("C2", "hidden.weight", (0, 1)),
    ("C2", "start", (1,)),
    ("C2", "unembed.bias", (0,)),
    ("first.dot", "blocks.0.attention.key", None),
]:
    how = {"arch": "toy"} if name == "C2" else {"length": 4}
    file = krohn.compile(name, **how).file
    tensors = {name: values.copy() for name, values in file.tensors.items()}
    if index is None:
        tensors[tensor] *= -1
    else:
        tensors[tensor][index] += 2
    wrong = replace(file, tensors=tensors)
    ran = {"sample": 9} if name == "ToyGain2" else {"exhaustive": 4}
    print(krohn.verify(wrong).verdict, krohn.verify(wrong, proof=False, **ran).verdict)
file = krohn.compile("C2", arch="toy").file
try:
    modelfile.write("more", file.header, {**file.tensors, "more": tensors[tensor]})
    modelfile.read("more")
except krohn.ModelFileError as error:
    print(error)
"""


@pytest.mark.slow
@real_vectors
def test_a_network_that_is_wrong_is_neither_proved_nor_right(site: Path) -> None:
    *verdicts, error = python(site, DAMAGE).splitlines()
    assert len(verdicts) == 5
    for said in verdicts:
        proof, run = said.split()
        assert proof in ("undecided", "refuted")
        assert run == "refuted"
    assert "'more' is not in its architecture" in error


OTHER = '''"""A slice that brings a command that there is."""

from krohn.program.slices import Slice

SLICE = Slice(commands={"letters": "other.commands:letters"})
'''


def test_two_slices_do_not_bring_one_name(site: Path, tmp_path: Path) -> None:
    install(tmp_path)
    about = tmp_path / "other-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: other\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[krohn.slices]\nother = other\n")
    (tmp_path / "other.py").write_text(OTHER)
    (done,) = krohn(tmp_path, "--help")
    both = "krohn_toys.letters and other both bring commands 'letters'"
    assert (done.code, done.err) == (2, f"krohn: {both}\n")


def test_every_folder_of_the_page_is_a_slice() -> None:
    folders = {name.split("/")[1] for name in files() if "/" in name}
    listed = re.findall(r'= "krohn_toys\.(\w+)"', files()["pyproject.toml"])
    assert folders == {*listed}
