"""Places that networks can go to, by name."""

import sys

import pytest

from krohn.architectures.exports.destinations import (
    destination,
)
from krohn.network import ExportError
from krohn.program.extras import install
from krohn.program.slices import slice_exports


def test_an_unknown_place_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ExportError, match=r"to= takes transformer-lens.*'jax'"):
        destination("jax")


@pytest.mark.parametrize(
    ("name", "library"),
    [(n, each) for n, to in slice_exports().items() for each in to.imports],
)
def test_a_missing_library_is_one_line_with_the_command_that_installs_it(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    brings = "compile" if library == "torch" else "huggingface"
    extra = brings if name == "gpt2" else name
    with pytest.raises(ExportError) as caught:
        destination(name)
    assert str(caught.value) == f"an export to {name} needs {library}: {install(extra)}"
