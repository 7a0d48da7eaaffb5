"""Formats and whole numbers as Python users write them; messages name parameters."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import krohn
from krohn.option_values import format_name, whole
from krohn.python_wording import in_python

PACKAGES = Path(krohn.__file__).parents[1]


@pytest.mark.parametrize(
    "dtype", ["float32", torch.float32, np.float32, np.dtype("float32")]
)
def test_a_format_is_a_name_or_a_dtype(dtype: object) -> None:
    assert format_name(dtype) == "float32"


@pytest.mark.parametrize("dtype", ["int8", torch.int8, np.int8, 3, None, dict])
def test_other_formats_are_refused(dtype: object) -> None:
    with pytest.raises(krohn.KrohnError, match="there is no dtype"):
        format_name(dtype)


def test_whole_numbers_are_those_of_python_and_numpy() -> None:
    assert whole(np.int64(3), "it", 1) == whole(3, "it", 1) == 3


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "3", 0, -1])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: krohn.compile("S3", n),
        lambda n: krohn.explain("S3", n),
        lambda n: krohn.verify("none.safetensors", exhaustive=n),
        lambda n: krohn.verify("none.safetensors", sample=n),
        lambda n: krohn.verify("none.safetensors", length=n),
    ],
)
def test_what_is_no_number_of_letters_is_refused(
    call: Callable[[object], object], value: object
) -> None:
    with pytest.raises(krohn.KrohnError, match=r"whole number|at least 1"):
        call(value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: krohn.compile("S3", 4, within=0.1),
        lambda: krohn.compile("S3", 4, arch="tree"),
        lambda: krohn.compile("S3"),
        lambda: krohn.compile("S3", 4, arch="rnn"),
        lambda: krohn.explain("S3", arch="tree"),
    ],
)
def test_messages_in_python_name_parameters(call: Callable[[], object]) -> None:
    with pytest.raises(krohn.KrohnError) as told:
        call()
    assert not re.search(r"-T\b|--\w", str(told.value))
    assert re.search(r"within=|arch=|length=", str(told.value))


def test_no_option_that_a_package_writes_is_left() -> None:
    texts = "\n".join(p.read_text("utf-8") for p in (PACKAGES / "krohn").rglob("*.py"))
    said = re.findall(r'"[^"\n]*(?<![\w-])(?:--[a-z]|-T\b)[^"\n]*"', texts)
    assert len(said) > 20
    for message in said:
        outside = re.sub("`[^`]*(`|$)", "", in_python(message.strip('"')))
        assert not re.search(r"(?<![\w-])(-T\b|--[a-z])", outside)


def test_commands_in_messages_stay_commands() -> None:
    assert in_python("say --exhaustive N") == "say exhaustive=N"
    assert in_python("it is for (-T)") == "it is for (length=)"
    assert in_python("`krohn explain S3 --arch ssm`") == "`krohn explain S3 --arch ssm`"


def test_types_are_there_for_those_who_import() -> None:
    assert (PACKAGES / "krohn" / "py.typed").exists()


def test_errors_have_one_base() -> None:
    for error in (krohn.MachineError, krohn.CompileError, krohn.ExportError):
        assert issubclass(error, krohn.KrohnError)
    with pytest.raises(krohn.KrohnError):
        krohn.load("none.safetensors")
