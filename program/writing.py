"""The one way in which files and folders are written: whole or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from krohn.program.errors import KrohnError


def atomic_write(path: str | Path, data: bytes | str) -> None:
    """Write a file so that it holds either its old content or all of ``data``.

    The data goes to a temporary file beside the target, which then takes the name.
    Text is written as UTF-8.

    Raises:
        KrohnError: If the folder is missing, the disk is full, or the target is
            something other than a file.
    """
    encoded = _encode(data, path)
    try:
        # Through links, so that a linked file is written and the link is kept.
        target = Path(os.path.realpath(path))
        if os.path.lexists(target) and not target.is_file():
            what = "a directory" if target.is_dir() else "not a file"
            raise KrohnError(f"{path}: cannot be written: it is {what}; name a file")
        _replace(target, encoded)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.ENOENT:
            reason = f"there is no directory {Path(path).parent}"
        raise KrohnError(f"{path}: cannot be written: {reason}") from error
    except (ValueError, TypeError) as error:
        raise KrohnError(f"{str(path)!r} names no file: {error}") from None


@contextmanager
def whole_directory(directory: Path) -> Iterator[Path]:
    """A directory to write into, which takes its place in the end, or disappears.

    Raises:
        KrohnError: If there is something in its place.
    """
    import shutil
    from tempfile import mkdtemp

    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise KrohnError(f"{directory} exists and is not empty; name another directory")
    if not directory.parent.is_dir():
        raise KrohnError(f"there is no directory {directory.parent}")
    temporary = mkdtemp(dir=directory.parent, prefix=f".{directory.name}.")
    try:
        yield Path(temporary)
        os.chmod(temporary, 0o777 & ~_mask())
        os.replace(temporary, directory)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _replace(target: Path, data: bytes) -> None:
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_mask())
            os.replace(file.name, target)
        except BaseException:  # also if the user interrupts
            with suppress(OSError):
                os.unlink(file.name)
            raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _encode(data: bytes | str, path: str | Path) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return data.encode()
    except UnicodeEncodeError as error:
        raise KrohnError(
            f"{path}: a name holds half a surrogate pair, which UTF-8 cannot write"
        ) from error
