"""What is not installed is named in a way that installs it."""

from pathlib import Path

import pytest

from krohn.program import user_input


def test_from_a_checkout_the_checkout_is_installed() -> None:
    root = Path(__file__).resolve().parents[2]
    assert user_input.install("compare") == f"pip install '{root}[compare]'"


def test_elsewhere_the_package_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        user_input, "__file__", str(tmp_path / "program" / "user_input.py")
    )
    assert user_input.install("compare") == "pip install 'krohn[compare]'"
