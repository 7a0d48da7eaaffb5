"""What units of one channel hold, in parts and as a whole."""

import pytest

import krohn
from algebra import zoo
from verify import mlp
from verify.proof import prove


@pytest.mark.parametrize("name", ["S3", "Rubik"])
def test_parts_say_what_the_whole_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = krohn.compile(name, 6, "scan", proved=False).file
    whole = prove(file, zoo.machine(name))
    monkeypatch.setattr(mlp, "CELLS", 3000)
    parts = prove(file, zoo.machine(name))
    assert whole.verdict == parts.verdict == "verified"
    assert whole.evidence == parts.evidence
