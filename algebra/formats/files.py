"""Files: read whole or refused, written whole or not at all."""

import contextlib
import gzip
import os
import sys
import zlib
from pathlib import Path

from algebra.errors import MachineError
from algebra.near_names import near

STANDARD_INPUT = "-"
"""The name of what is piped in."""

MAX_BYTES = 64 * 2**20
"""The largest file that is read, before and after unpacking: 64 MiB."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, or of standard input (``-``).

    It is unpacked first where its name ends in ``.gz``.

    Raises:
        MachineError: If the file cannot be read, is larger than ``MAX_BYTES``, is no
            gzip archive although its name says so, or is not UTF-8.
    """
    try:
        # Opened as a stream with a limit: a device has no size to look up, and a
        # small archive may unpack to any size.
        data = _read_packed(path) if path.suffix == ".gz" else _read_plain(path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise MachineError(f"{path}: not a whole gzip file ({error})") from error
    except OSError as error:
        hint = _neighbour(path) if isinstance(error, FileNotFoundError) else ""
        raise MachineError(f"{path}: cannot be read: {_reason(error)}{hint}") from error
    except ValueError as error:
        raise MachineError(f"{path}: is no path of a file ({error})") from error
    if len(data) > MAX_BYTES:
        raise MachineError(
            f"{path}: larger than {MAX_BYTES // 2**20} MiB, the most that is read; "
            "give a smaller machine"
        )
    return _decode(data, path)


def _neighbour(path: Path) -> str:
    """The file beside it that somebody may have meant."""
    try:
        return near(path.name, os.listdir(path.parent))
    except OSError:
        return ""


def atomic_write(path: str | Path, data: bytes | str) -> None:
    """Writes a file so that it holds either what it held before or all of ``data``.

    The data goes to a temporary file beside the target, which then takes the name.
    Text is written as UTF-8.

    Raises:
        MachineError: If the folder is missing, the disk is full, or the target is
            something other than a file.
    """
    # Through links, so that a linked file is written and the link is kept.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise MachineError(f"{path}: cannot be written: it is not a file")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        _write_new(temporary, _encode(data, path))
        os.replace(temporary, target)
    except OSError as error:
        raise MachineError(f"{path}: cannot be written: {_reason(error)}") from error
    finally:
        # It is there only if something failed, or the user interrupted.
        with contextlib.suppress(OSError):
            temporary.unlink()


def _read_plain(path: Path) -> bytes:
    if str(path) == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _read_packed(path: Path) -> bytes:
    with gzip.open(path, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _write_new(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise MachineError(
            f"{path}:{line}: not UTF-8 text; save the file as UTF-8"
        ) from error


def _encode(data: bytes | str, path: str | Path) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return data.encode()
    except UnicodeEncodeError as error:
        raise MachineError(
            f"{path}: a name holds half a surrogate pair, which UTF-8 cannot write"
        ) from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
