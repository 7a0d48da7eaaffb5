"""Whatever lies where a path is read: one line, at once, and never a wait."""

import os
import shutil
import signal
import socket
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import krohn
from krohn.architectures.gpt2.check import (
    NAMES,
    TOLD,
)
from krohn.cli import run
from krohn.program.errors import KrohnError
from krohn.program.files import Unreadable, names_in, read_bytes
from krohn.program.user_input import read_text
from krohn.program.writing import atomic_write

SECONDS = 20


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path)


def missing(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


def huge(path: Path) -> None:
    """A file with nothing in it, which would take all memory."""
    with path.open("wb") as file:
        file.truncate(2**36)


def unreadable(path: Path) -> None:
    path.write_text("x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads everything")


def at_a_socket(path: Path) -> None:
    """A socket of a short name, which is all that there may be, moved there."""
    short = Path(tempfile.gettempdir(), f"krohn-{os.getpid()}")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(short))
    shutil.move(short, path)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (pipe, "it is a pipe"),
    "device": (endless, "it is a device"),
    "directory": (folder, ""),
    "socket": (at_a_socket, "it is a socket"),
    "loop": (loop, "Too many levels of symbolic links"),
    "missing": (missing, "No such file"),
    "huge": (huge, "larger than"),
    "unreadable": (unreadable, "Permission denied"),
}
"""The things that may lie at a path, with the error for each."""
EACH = pytest.mark.parametrize("odd", ODD)
COMMANDS: dict[str, tuple[str, ...]] = {
    "machine.json": ("explain", "{}"),
    "machine.dot": ("compile", "{}", "-o", "{out}"),
    "machine.att": ("explain", "{}"),
    "machine.dfa.gz": ("explain", "{}"),
    "model.pomdp": ("explain", "{}"),
    "model.npz": ("explain", "{}"),
    "program.dp": ("explain", "{}"),
    "rules.rules": ("explain", "{}"),
    "grammar.pcfg": ("grammar", "{}"),
    "count.crasp": ("explain", "{}"),
    "since.program": ("explain", "{}"),
    "some.kalman": ("explain", "{}"),
    "some.kernel": ("explain", "{}"),
    "array.npy": ("decompile", "{}"),
    "table.csv": ("batch", "{}", "-o", "{out}"),
    "m.safetensors": ("verify", "{}"),
    "n.safetensors": ("run", "{}", "1"),
    "o.safetensors": ("recheck", "{}", "{good.json}"),
    "e.json": ("recheck", "{good}", "{}"),
    "p.safetensors": ("learn", "{}"),
    "q.safetensors": ("draw", "{}", "-o", "{out}"),
    "x.csv": ("run", "{real}", "{}"),
    "other.dot": ("equivalent", "{}", "C2"),
    "page.html": ("verify", "{good}", "--proof", "--html", "{}"),
    "out.safetensors": ("compile", "C2", "-T", "4", "-o", "{}"),
    "picture.svg": ("draw", "C2", "-o", "{}"),
}
"""Of each place where a path is read or written a command."""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("good")
    good, real = home / "good.safetensors", home / "real.safetensors"
    krohn.compile("C2", 4).save(good)
    krohn.compile("Exp4").save(real)
    (home / "good.json").write_text("{}")
    return {
        "{good}": str(good),
        "{real}": str(real),
        "{good.json}": str(home / "good.json"),
        "{out}": str(home / "out.svg"),
    }


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """A wait would last for ever."""

    def late(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.sample(1)
@pytest.mark.parametrize("odd", ["pipe", "device", "loop"])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_say_in_one_line_what_they_cannot_read(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: dict[str, str],
    name: str,
    odd: str,
) -> None:
    path, (make, _) = tmp_path / name, ODD[odd]
    make(path)
    before = os.lstat(path)
    asked = [{"{}": str(path), **given}.get(part, part) for part in COMMANDS[name]]
    assert run(asked) == 2
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith("krohn: ")
    assert "Traceback" not in line
    after = os.lstat(path)
    assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)


@pytest.mark.sample(5)
@pytest.mark.parametrize("odd", ["pipe", "device", "loop"])
@pytest.mark.parametrize("name", [*NAMES, *TOLD])
def test_directories_hold_regular_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, odd: str
) -> None:
    for other in {*NAMES, *TOLD} - {name}:
        (tmp_path / other).write_text("{}")
    ODD[odd][0](tmp_path / name)
    assert run(["verify", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("krohn: ")


@EACH
def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path, odd: str) -> None:
    make, reason = ODD[odd]
    make(tmp_path / "x")
    with pytest.raises(Unreadable, match=reason or "it is a directory"):
        read_bytes(tmp_path / "x")


def test_files_are_read_up_to_their_bound(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_bytes(path, 5) == b"12345"
    with pytest.raises(Unreadable, match="larger than 4 bytes"):
        read_bytes(path, 4)
    path.write_bytes(b"a\n\xff")
    with pytest.raises(Unreadable, match="x:2: not UTF-8"):
        read_text(path)
    with pytest.raises(Unreadable, match="cannot be read"):
        names_in(path)
    with pytest.raises(Unreadable, match="names no file"):
        read_bytes("a\0b")


@pytest.mark.parametrize("odd", ["pipe", "device", "directory", "socket", "loop"])
def test_nothing_but_a_file_is_replaced(tmp_path: Path, odd: str) -> None:
    make, _ = ODD[odd]
    make(tmp_path / "x")
    with pytest.raises(KrohnError, match="cannot be written"):
        atomic_write(tmp_path / "x", "new")
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_room_is_made_for_what_a_file_holds(tmp_path: Path) -> None:
    """Not for the most that it may: that is more than many machines have."""
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    tracemalloc.start()
    try:
        assert read_bytes(path, 2**34) == b"12345"
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="no /proc")
def test_files_that_are_longer_than_they_say_are_read_whole() -> None:
    assert Path("/proc/version").stat().st_size == 0
    assert read_bytes("/proc/version") == Path("/proc/version").read_bytes()
    with pytest.raises(Unreadable, match="larger than 8 bytes"):
        read_bytes("/proc/version", 8)
