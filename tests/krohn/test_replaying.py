"""A model's answers to a word beside those expected, and lines that show it again."""

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn import cli
from krohn.algebra.formats import json_format
from krohn.algebra.wording import LONGEST
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.program.quoting import in_shell
from krohn.replaying import replay_command
from krohn.report import Report
from krohn.show import network
from krohn.verify.proof import Proof
from krohn.verify.testing.counterexample import Counterexample

T = 5
HOSTILE = ("a", "a b", "it's", '"', "-x", "--", "$(touch pwned)", "é\x1b[31m", "\n", "")
Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """A command with --json: its exit code and the object that it prints."""

    def call(verb: str, *arguments: object) -> tuple[int, dict[str, Any]]:
        code = cli.run([verb, "--json", *map(str, arguments)])
        return code, json.loads(capsys.readouterr().out)

    return call


@pytest.fixture(scope="session")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "c3.safetensors"
    krohn.compile("C3", T).save(path)
    return path


def damaged(file: ModelFile, path: Path, entry: float = 0.0) -> Path:
    """The model with a row of its read-out replaced."""
    weight = file.tensors["unembed.weight"].copy()
    weight[...] = entry
    tensors = {**file.tensors, "unembed.weight": weight}
    modelfile.write(path, file.header, tensors)
    return path


def shell(line: str) -> list[str]:
    """The arguments that bash gives to ``krohn``."""
    script = "krohn() { printf '%s\\0' \"$@\"; }\n" + line
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


# --- krohn run --expect ---------------------------------------------------------------


def test_it_agrees_along_the_whole_word(run: Run, counter: Path) -> None:
    code, found = run("run", counter, "1", "2", "2", "--expect")
    assert (code, found["agrees"], found["position"]) == (0, True, 3)
    assert found["expected"] == found["actual"] == "2"


@pytest.mark.parametrize(("state", "code"), [("2", 0), ("1", 1), ("0", 1)])
def test_a_state_is_expected_at_the_end(
    run: Run, counter: Path, state: str, code: int
) -> None:
    got, found = run("run", counter, "122", "--expect", state)
    assert (got, found["agrees"]) == (code, code == 0)
    assert (found["position"], found["expected"], found["actual"]) == (3, state, "2")


def test_it_says_where_it_differs_first(run: Run, counter: Path) -> None:
    code, found = run(
        *("run", counter, "0", "1", "1", "--expect", "--machine", "C3", "--start", "0")
    )
    assert (code, found["agrees"]) == (0, True)
    code, found = run(
        *("run", "--machine=C3", "--start=2", "--expect", "--", counter, "0", "1")
    )
    assert (code, found["position"]) == (1, 1)
    assert (found["expected"], found["actual"]) == ("2", "0")


def test_what_is_not_a_number_never_agrees(
    run: Run, counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = modelfile.read(counter)
    path = damaged(file, tmp_path / "m", 3e38)
    for state in ([], ["0"], ["1"]):
        code, found = run("run", path, "1", "--expect", *state)
        assert (code, found["agrees"]) == (1, False)
        assert found["actual"] not in file.header["machine"]["states"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["1", "--expect", "7"],
        ["x", "--expect"],
        ["1" * (T + 1), "--expect"],
        ["1", "--expect", "--machine", "C5"],
        ["1", "--expect", "--start", "1"],
        ["1", "--machine", "C3"],
        ["1", "--start", "1"],
        ["1", "--nonsense"],
    ],
)
def test_bad_input_is_2(run: Run, counter: Path, arguments: list[str]) -> None:
    code, found = run("run", counter, *arguments)
    assert (code, found.keys()) == (2, {"schema", "error"})


def test_words_on_lines_are_all_held_against_it(
    counter: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for expected, code in ((["--expect"], 0), (["--expect", "2"], 1)):
        monkeypatch.setattr("sys.stdin", io.StringIO("1 1\n2\n1\n"))
        assert cli.run(["run", str(counter), *expected]) == code
        out = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in out] == (
            ["says", "says", "differs"] if code else ["agrees"] * 3
        )


def test_outputs_are_held_against_outputs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile("regex:(ab)*", T, observe="outputs").save(path)
    assert run("run", path, "abab", "--expect")[0] == 0
    code, found = run("run", path, "aba", "--expect", "accept")
    assert (code, found["actual"]) == (1, "reject")


@pytest.mark.slow
def test_generators_are_held_against_their_law(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "g.safetensors"
    file = krohn.compile_generator("Dyck2,2", 8).file
    modelfile.write(path, file.header, file.tensors)
    assert run("run", path, "--expect", "--", "(", "[", "]")[0] == 0
    assert run("run", path, "--expect", "1", "--", "(")[0] == 2
    assert run("run", path, "--expect", "--", "]")[0] == 2
    tensors = {**file.tensors}
    last = max(n for n in tensors if n.endswith("bias"))
    tensors[last] = tensors[last] + np.float32(0.25)
    modelfile.write(path, file.header, tensors)
    code, found = run("run", path, "--expect", "--", "(", "[", "]")
    assert (code, found["position"]) == (1, 0)


# --- lines that replay ----------------------------------------------------------------


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@settings(max_examples=25)
def test_a_shell_reads_what_was_quoted(name: str) -> None:
    assert shell(f"krohn {in_shell(name)}") == [name]
    assert in_shell(name).isprintable()


def test_what_no_command_line_holds_has_no_line() -> None:
    assert replay_command("f", ("a\0b",)) is None
    assert replay_command("f", ("\ud800",)) is None


@pytest.mark.sample(1)
@pytest.mark.parametrize("machine", [False, True], ids=["own", "another"])
@pytest.mark.parametrize("options", [[], ["--exhaustive", 2], ["--sample", 9]])
def test_the_line_of_a_refutation_refutes(
    run: Run, tmp_path: Path, machine: bool, options: list[object]
) -> None:
    path, other = tmp_path / "-it's a model", tmp_path / "other machine.json"
    letters = len(HOSTILE)
    table = np.arange(letters)[:, None] + np.arange(letters)
    stated = {
        **json_format.to_object(krohn.zoo("C2")),
        "letters": list(HOSTILE),
        "states": [f"at {name!r}" for name in HOSTILE],
        "transitions": (table % letters).tolist(),
        "start": f"at {HOSTILE[0]!r}",
    }
    source = json_format.from_object(stated)
    model = krohn.compile(source, T, "scan")
    model.save(path)
    against: list[object] = []
    if machine:
        stated["transitions"][8][0] = 0
        other.write_text(json.dumps(stated))
        against = ["--machine", other]
    else:
        damaged(model.file, path)
    code, found = run("verify", path, *against, *options)
    assert (code, found["minimal"]) == (1, True)
    assert found["counterexample"]["word"] == [HOSTILE[8 if machine else 1]]
    verb, *rest = shell(found["replay"])
    code, again = run(verb, *rest)
    wrong = found["counterexample"]
    assert code == 1
    assert again["word"] == wrong["word"]
    assert (again["expected"], again["actual"]) == (
        wrong["expected"][-1],
        wrong["actual"][-1],
    )


def test_a_network_of_another_start_state_is_compiled_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stated = json_format.to_object(krohn.zoo("FlipFlop"))
    stated["transitions"][2][0] = 0
    own = krohn.compile(json_format.from_object(stated), T)
    own.save(tmp_path / "own model.safetensors")
    # The same from the start state, which is never left.
    stated["transitions"][0][1] = 0
    (tmp_path / "other.json").write_text(json.dumps(stated))
    code, found = run(
        *("verify", "own model.safetensors", "--machine=other.json"),
        *("--exhaustive", 3, "--every-start"),
    )
    assert code == 1
    assert "from the start state '2'" in found["reason"]
    first, second = found["replay"].split(" && ")
    assert run(*shell(first))[0] == 0
    code, again = run(*shell(second))
    assert (code, again["word"]) == (1, found["counterexample"]["word"])


def test_a_generator_that_is_wrong_at_once_is_replayed_without_letters(
    tmp_path: Path,
) -> None:
    line = replay_command("g", ())
    assert line is not None
    assert line.startswith("echo | krohn run")


def test_verified_models_have_nothing_to_replay(run: Run, counter: Path) -> None:
    code, found = run("verify", counter)
    assert (code, found["replay"], found["minimal"]) == (0, None, None)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "word", "right", "state", "wrong"),
    [
        ("regex:(ab)*", "ab", "accept", "0", "reject"),
        ("examples/turnstile.dot", "coin push", "through", "locked", "thanks"),
    ],
)
def test_an_output_is_expected_as_run_prints_it(
    run: Run, tmp_path: Path, source: str, word: str, right: str, state: str, wrong: str
) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile(source, T).save(path)
    assert run("run", path, word)[1]["outputs"][-1] == right
    for said, code in ((right, 0), (state, 0), (wrong, 1)):
        got, found = run("run", path, word, "--expect", said)
        assert (got, found["expected"]) == (code, said)
    assert found["actual"] == right
    code, found = run("run", path, word, "--expect", "nothing")
    assert code == 2
    assert right in found["error"]


def test_a_verdict_cuts_a_long_word_and_shows_where_it_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    word, right = ("a", "b") * 255, ("even", "odd") * 255
    wrong = Counterexample(word, right, (*right[:-1], "none"))
    found = Report("refuted", "sample", "why", 510, 1, "one word", wrong)
    network.report("f", found, f"krohn run f {' '.join(word)}")
    lines = capsys.readouterr().out.splitlines()
    (replayed,) = [line for line in lines if len(line) > LONGEST + 20]
    assert replayed.endswith(" ".join(word))
    shown = dict(line.split(maxsplit=1) for line in lines[2:5])
    assert shown["word"].startswith("a b a b")
    assert shown["word"].endswith("…")
    assert shown["expected"].endswith("even odd")
    assert shown["actual"].endswith("even none")


@pytest.mark.slow
def test_a_word_that_several_constructions_fail_on_is_told_once() -> None:
    wrong = Proof("refuted", "", 510, word=(0,) * 510)
    machine = krohn.zoo("C2")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("krohn.compiled_model.prove_own", lambda *_: wrong)
        with pytest.raises(krohn.CompileError) as told:
            krohn.compile(machine, 510)
    said = str(told.value)
    assert said.count(f"{machine.letters[0]}^510") == 1
    assert "counter, " in said


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Select8", "inputs of 8 vectors"),
        ("Sorted3,4", "all 64 inputs of 3 points"),
        ("Nearest3", "all inputs of 1 to 6 points"),
    ],
)
def test_inputs_that_are_all_there_are_not_up_to_so_many(
    source: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from krohn import cli

    assert cli.run(["compile", source, "-o", str(tmp_path / "f.safetensors")]) == 0
    assert said in capsys.readouterr().out
