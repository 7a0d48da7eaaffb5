"""Unknown names are answered with the known one that is most like them."""

from pathlib import Path

import pytest

from krohn.algebra.errors import MachineError
from krohn.algebra.formats import read
from krohn.algebra.wording import near


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("scna", " (did you mean scan?)"),
        ("SCAN", " (did you mean scan?)"),
        ("memry", " (did you mean memory?)"),
        ("xyz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_said(name: str, hint: str) -> None:
    assert near(name, ["scan", "memory", "product"]) == hint


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "turnstile.dot").write_text("digraph {}")
    with pytest.raises(MachineError, match=r"did you mean turnstile\.dot\?"):
        read(tmp_path / "turnstil.dot")
    with pytest.raises(MachineError, match=r"No such file or directory$"):
        read(tmp_path / "nowhere" / "turnstil.dot")
