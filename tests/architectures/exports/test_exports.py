"""Places that networks can go to, by name."""

import sys

import pytest

from krohn.architectures.exports.destinations import (
    destination,
    exports,
)
from krohn.network import ExportError


def test_an_unknown_place_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ExportError, match=r"to= takes transformer-lens.*'jax'"):
        destination("jax")


@pytest.mark.parametrize("name", exports())
def test_a_missing_library_is_one_line_with_the_command_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, exports()[name].imports[0], None)
    with pytest.raises(ExportError, match=r"pip install '.*\[") as caught:
        destination(name)
    assert "\n" not in str(caught.value)
