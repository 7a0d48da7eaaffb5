"""The one way in which files are read: regular ones of bounded size, whole."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from krohn.program.errors import KrohnError

MOST_BYTES = 64 * 2**20
"""The largest file that is read where nothing else is said: 64 MiB."""
STEP = 2**16
"""So much is read at once at least; some systems say of some files that they are empty."""
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Unreadable(KrohnError):
    """A file that cannot be read; the message names it.

    Attributes:
        missing: Whether there is no such file.
    """

    missing = False


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """The bytes of a regular file.

    Nothing else is waited for: a pipe or a device may never end. What a file holds may
    grow while it is read, so its size is looked at again.

    Args:
        path: The file.
        most: The most bytes that it may have; `MOST_BYTES` if nothing is said.

    Raises:
        Unreadable: If it is no regular file, cannot be read, or is larger.
    """
    most = MOST_BYTES if most is None else most
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _odd(path, status.st_mode)
            small = status.st_size <= most
            data = _read(file, status.st_size + 1, most) if small else b""
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError as error:
        raise Unreadable(f"{str(path)!r} names no file: {error}") from None
    if not small or len(data) > most:
        raise too_large(path, most)
    return data


def _read(file: BinaryIO, size: int, most: int) -> bytes:
    """The bytes of a file, or some more than the most; its size decides the memory."""
    parts, count, step = list[bytes](), 0, max(size, STEP)
    while count <= most and (part := file.read(step)):
        parts.append(part)
        count, step = count + len(part), STEP
    return b"".join(parts)


def names_in(directory: str | Path) -> set[str]:
    """The names of the files and folders in a directory.

    Raises:
        Unreadable: If it is no directory, or cannot be read.
    """
    try:
        return set(os.listdir(directory))
    except OSError as error:
        raise Unreadable(f"{directory}: cannot be read: {error.strerror}") from None


def too_large(path: str | Path, most: int) -> Unreadable:
    """The error of a file that has more bytes than are read."""
    return Unreadable(f"{path}: larger than {_size(most)}, the most that is read")


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file; a pipe without a writer, too, which is then refused."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _odd(path: str | Path, mode: int) -> Unreadable:
    what = KINDS.get(stat.S_IFMT(mode), "something else")
    return Unreadable(f"{path} is not a regular file: it is {what}")


def _unreadable(path: str | Path, error: OSError) -> Unreadable:
    with suppress(OSError):  # directories and sockets cannot even be opened
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            return _odd(path, mode)
    refusal = Unreadable(f"{path}: cannot be read: {error.strerror or error}")
    refusal.missing = isinstance(error, FileNotFoundError)
    return refusal


def _size(most: int) -> str:
    for unit, name in ((2**30, "GiB"), (2**20, "MiB")):
        if most >= unit and most % unit == 0:
            return f"{most // unit} {name}"
    return f"{most:,} bytes"
