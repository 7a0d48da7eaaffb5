"""A stream of any length says what the machine says, however it is cut into pieces."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

import krohn
from krohn import cli, schemas
from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.network.model import Model
from krohn.streams import Stream, stream

ROOT = Path(__file__).parents[2]
LETTERS = 400
NETWORKS = [
    ("S3", "scan", 11, "float32"),
    ("C5", "counter", 9, "float32"),
    ("FlipFlop", "memory", 6, "bfloat16"),
    ("Dyck3,2", "dyck", 16, "float32"),
    ("S3", "rnn", None, "float32"),
]


def opened(name: str, construction: str, length: int | None, dtype: str) -> Model:
    if construction == "rnn":
        return Model(krohn.compile(name, arch="rnn", dtype=dtype, proof=False).file)
    return Model(
        krohn.compile(name, length, construction, dtype=dtype, proof=False).file
    )


def random_letters(name: str, batch: int) -> IntArray:
    letters = len(krohn.zoo(name).letters)
    return np.random.default_rng(0).integers(letters, size=(batch, LETTERS // batch))


def right(name: str, letters: IntArray) -> IntArray:
    machine = krohn.zoo(name)
    return machine.semiautomaton.trace(letters, machine.start)


@pytest.mark.sample(1)
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(("name", "construction", "length", "dtype"), NETWORKS)
def test_a_stream_much_longer_than_the_network_is_certified_for(
    name: str, construction: str, length: int | None, dtype: str, batch: int
) -> None:
    model = opened(name, construction, length, dtype)
    letters = random_letters(name, batch)
    whole = Stream(model, krohn.zoo(name), batch)
    assert np.array_equal(whole.feed(letters), right(name, letters))
    single = Stream(model, krohn.zoo(name), batch)
    steps = [single.step(letters[:, i]) for i in range(40)]
    assert np.array_equal(np.stack(steps, axis=1), right(name, letters)[:, :40])
    assert whole.letters == LETTERS // batch


MODEL = opened("S3", "scan", 11, "float32")


@settings(max_examples=8)
@given(st.lists(st.integers(0, 30), max_size=12))
def test_pieces_make_no_difference(sizes: list[int]) -> None:
    letters = random_letters("S3", 1)[:, : sum(sizes)]
    running = stream(MODEL)
    ends = np.cumsum([0, *sizes]).tolist()
    told = [running.feed(letters[:, a:b]) for a, b in pairwise(ends)]
    joined = np.concatenate([np.zeros((1, 0), dtype=np.int64), *told], axis=1)
    assert np.array_equal(joined, right("S3", letters))


def test_the_state_that_a_segment_begins_with_is_the_networks_own() -> None:
    model = opened("C5", "counter", 9, "float32")
    running = stream(model)
    running.feed(random_letters("C5", 1)[:, :5])
    running.now = np.array([3])
    running._room = 0
    letters = np.array([[1, 1, 0]])
    machine = krohn.zoo("C5")
    wanted = machine.semiautomaton.trace(letters, 3)
    assert np.array_equal(running.feed(letters), wanted)


def test_what_is_not_finite_ends_a_stream() -> None:
    model = opened("C5", "counter", 9, "float32")
    model.network.weight.fill_(torch.nan)
    with pytest.raises(KrohnError, match="no answer after letter 1 "):
        stream(model).feed(random_letters("C5", 1))


def test_a_model_without_room_behind_some_state_says_so() -> None:
    with pytest.raises(KrohnError, match="length=4 at least"):
        stream(opened("Grid4", "scan", 3, "float32"))


def test_a_model_that_says_outputs_runs_no_stream() -> None:
    built = krohn.compile("C5", 9, "counter", observe="zero", proof=False)
    with pytest.raises(KrohnError, match="says outputs"):
        stream(Model(built.file))


# --- the command ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "s3.safetensors"
    krohn.compile("S3", 11, "scan", proof=False).save(path)
    return path


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    def call(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
        monkeypatch.setattr("sys.stdin", given)
        code = cli.run(["run", str(file), *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


@contextmanager
def process(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    code = "import sys; from krohn.cli import run; sys.exit(run(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, "run", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        yield started
        started.kill()


def names(letters: IntArray) -> list[str]:
    states = krohn.zoo("S3").states
    return [states[q] for q in right("S3", letters)[0].tolist()]


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", ["file", "-"])
def test_states_are_printed_after_every_letter(
    command: Command, tmp_path: Path, source: str
) -> None:
    letters = random_letters("S3", 1)
    alphabet, path = krohn.zoo("S3").letters, tmp_path / "letters.txt"
    text = "\n".join(alphabet[a] for a in letters[0].tolist())
    path.write_text(text)
    where = path if source == "file" else "-"
    wanted = names(letters)
    assert command("--stream", where, stdin=text) == (
        0,
        "".join(f"{state}\n" for state in wanted),
        "",
    )
    assert command("--stream", where, "--last", stdin=text) == (
        0,
        wanted[-1] + "\n",
        "",
    )
    digest = hashlib.sha256("".join(f"{s}\n" for s in wanted).encode()).hexdigest()
    found = json.loads(command("--stream", where, "--json", stdin=text)[1])
    told = {"letters": LETTERS, "state": wanted[-1], "sha256": digest}
    assert found == schemas.with_schema("run", told)


def test_a_letter_that_two_pieces_share_is_read_whole(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("krohn.commands.run.CHUNK", 7)
    letters = random_letters("S3", 1)[:, :50]
    text = " ".join(krohn.zoo("S3").letters[a] for a in letters[0].tolist())
    assert command("--stream", "-", stdin=text)[1].split() == names(letters)


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["--stream", "missing.txt"], "", "missing.txt: No such file"),
        (["--last", "213"], "", "--last is for --stream"),
        (["--stream", "-", "213"], "", "leave it out"),
        (["--stream", "-", "--expect", "1"], "", "--expect is for words"),
        (["--stream", "-"], "213 xyzt", "'xyzt' is not a letter"),
        (["--stream", "-"], "213" * 50, "is not a letter"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    command: Command, arguments: list[str], stdin: str, said: str
) -> None:
    code, _, error = command(*arguments, stdin=stdin)
    assert code == 2
    assert said in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.slow
def test_states_come_as_letters_come_and_ctrl_c_ends_them(file: Path) -> None:
    alphabet = krohn.zoo("S3").letters
    letters = random_letters("S3", 1)[:, :30]
    wanted = names(letters)
    with process(file, "--stream", "-") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for place, letter in enumerate(letters[0].tolist()):
            running.stdin.write(alphabet[letter] + "\n")
            running.stdin.flush()
            assert running.stdout.readline().strip() == wanted[place]
        running.send_signal(signal.SIGINT)
        error = running.communicate(timeout=300)[1]
    assert running.returncode == 2
    assert error.startswith("krohn: interrupted after 30 letters, in state")
    assert len(error.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "letters.txt"
    path.write_text(f"{krohn.zoo('S3').letters[0]}\n" * 100_000)
    with process(file, "--stream", path) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.wait(timeout=300) == 2
        assert running.stderr.read() == ""


@pytest.mark.sample(1)
@pytest.mark.parametrize("letters", [[9], [-1], ["213"], [0.5], [0, 0]])
def test_what_is_no_row_of_letters_is_refused(letters: list[object]) -> None:
    stream = krohn.stream(krohn.compile("S3", 8))
    with pytest.raises(KrohnError, match=r"not a letter|indices of letters"):
        stream.step(np.array(letters))
    assert stream.letters == 0
