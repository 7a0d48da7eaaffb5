"""Texts in files, in UTF-8."""

from pathlib import Path

from krohn.program.files import Unreadable, read_bytes


def read_text(path: str | Path, most: int | None = None) -> str:
    """The text of such a file in UTF-8.

    Raises:
        Unreadable: As `read_bytes` does; or if it is not UTF-8.
    """
    return decode_utf8(read_bytes(path, most), path)


def decode_utf8(data: bytes, path: str | Path) -> str:
    """A text from its bytes in UTF-8.

    Raises:
        Unreadable: If they are not UTF-8; the message has the line.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Unreadable(
            f"{path}:{line}: not UTF-8 text; save the file as UTF-8"
        ) from None
