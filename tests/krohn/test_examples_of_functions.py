"""Every public function has an example in its docstring, and the examples are right."""

import doctest
import inspect
from pathlib import Path
from types import FunctionType

import pytest

import krohn

FUNCTIONS = [n for n in krohn.__all__ if isinstance(getattr(krohn, n), FunctionType)]
NEEDS = {"export": "transformers"}
"""What the example of a function needs beside torch."""
NOT_RUN = {"compare", "from_alta", "from_torch", "from_tracr"}
"""Examples that need training, or a network of another library."""


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_is_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(getattr(krohn, name)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"krohn": krohn}, name, None, 0)
    assert 1 <= len(test.examples) <= 5
    skipped = any(doctest.SKIP in each.options for each in test.examples)
    assert skipped == (name in NOT_RUN)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert told == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_is_explained(name: str) -> None:
    function = inspect.unwrap(getattr(krohn, name))
    text = inspect.getdoc(function) or ""
    arguments = text.partition("Args:")[2].partition("\nR")[0]
    for parameter in inspect.signature(function, follow_wrapped=False).parameters:
        assert f"{parameter}: " in arguments, parameter
