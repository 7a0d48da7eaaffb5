"""The command judges bytes, and the Python face must agree."""

from pathlib import Path

import pytest
from hostile import Judge, Said, bounded, face

from krohn import cli


@pytest.fixture
def judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Judge:
    """The verdict of the command on bytes; the Python face must agree."""
    path = tmp_path / "hostile.safetensors"

    def call(data: bytes, *options: str) -> Said:
        path.write_bytes(data)
        with bounded():
            code = cli.run(["verify", str(path), *options])
        said = Said(code, *capsys.readouterr())
        assert "out of memory" not in said.reason
        assert code == {"verified": 0, "refuted": 1}.get(said.verdict, 2)
        if not options:
            assert face(path) == said.verdict
        return said

    return call
