"""Formats and whole numbers as Python users write them; messages name parameters."""

import re
from collections.abc import Callable, Iterator
from inspect import Parameter, isfunction, signature
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch

import krohn
from krohn.checks import Checks, VerifyKeywords
from krohn.compile_options import CompileKeywords, CompileOptions, ExplainKeywords
from krohn.examination import Search, SearchKeywords
from krohn.instruments.compare.comparison.settings import (
    SettingKeywords,
    Settings,
)
from krohn.instruments.learning.learner import (
    Lesson,
    LessonKeywords,
)
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.option_rules import format_name, whole
from krohn.program.slices import GROUPS
from krohn.program.wording import in_a_command, in_python

PACKAGES = Path(krohn.__file__).parents[1]
OWN_PACKAGES = (
    "algebra",
    "compiler",
    "krohn",
    "network",
    "program",
    "verify",
    *GROUPS,
)


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


MEANINGLESS = {int: True, bool: 1, float: "0.1", str: 3}
"""For each type of a parameter a value that Python would take for one, or read on."""
PUBLIC = [name for name in krohn.__all__ if isfunction(getattr(krohn, name))]


def _parameters() -> Iterator[tuple[str, str, object]]:
    for name in PUBLIC:
        for each in signature(getattr(krohn, name)).parameters.values():
            union = get_origin(each.annotation) in (Union, UnionType)
            types = get_args(each.annotation) if union else (each.annotation,)
            only, *more = [t for t in types if t is not type(None)]
            if not more and isinstance(only, type) and only in MEANINGLESS:
                yield name, each.name, MEANINGLESS[only]


@pytest.mark.parametrize(("name", "parameter", "value"), list(_parameters()))
def test_every_parameter_of_every_function_refuses_what_is_of_another_type(
    name: str, parameter: str, value: object
) -> None:
    function = getattr(krohn, name)
    usual = {int: 4, bool: True, str: "none"}
    others = {
        each.name: print
        if get_origin(each.annotation) is Callable
        else usual.get(each.annotation)
        for each in signature(function).parameters.values()
        if each.default is Parameter.empty and each.name != parameter
    }
    # It is refused before the others are looked at, in one line that names it.
    with pytest.raises(krohn.KrohnError, match=f"{parameter} is .* not {value!r}"):
        function(**{parameter: value}, **others)


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "3", 0, -1])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: krohn.compile("S3", n),
        lambda n: krohn.compile("S3", 8, block=n),
        lambda n: krohn.explain("S3", n),
        lambda n: krohn.verify("none.safetensors", exhaustive=n),
        lambda n: krohn.verify("none.safetensors", sample=n),
        lambda n: krohn.verify("none.safetensors", length=n),
        lambda n: krohn.equivalent("regex:a*", "regex:a*", length=n),
        lambda n: krohn.stream("none.safetensors", batch=n),
    ],
)
def test_what_is_no_number_of_letters_is_refused(
    call: Callable[[object], object], value: object
) -> None:
    with pytest.raises(krohn.KrohnError, match=r"whole number|at least 1"):
        call(value)


def test_a_name_is_no_function() -> None:
    with pytest.raises(krohn.KrohnError, match="on_pass is a function, not 'accept'"):
        krohn.compile("regex:a*", 8, on_pass="accept")


def test_numbers_of_numpy_are_those_of_python() -> None:
    one, other = (krohn.compile("C2", n, block=n) for n in (4, np.int64(4)))
    assert one.file.header == other.file.header


def test_a_choice_is_one_of_those_that_there_are() -> None:
    with pytest.raises(krohn.KrohnError, match="relation= takes 'equal' or 'included'"):
        krohn.equivalent("regex:a*", "regex:a*", relation="same")


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
    texts = "\n".join(
        path.read_text("utf-8")
        for package in OWN_PACKAGES
        for path in (PACKAGES / package).rglob("*.py")
    )
    said = re.findall(r'"[^"\n]*(?<![\w-])(?:--[a-z]|-T\b)[^"\n]*"', texts)
    assert len(said) > 20
    for message in said:
        outside = re.sub("`[^`]*(`|$)", "", in_python(message.strip('"')))
        assert not re.search(r"(?<![\w-])(-T\b|--[a-z])", outside)


def test_commands_in_messages_stay_commands() -> None:
    assert in_python("say --exhaustive N") == "say exhaustive=N"
    assert in_python("it is for (-T)") == "it is for (length=)"
    assert in_python("compile it with --strict") == "compile it with strict=True"
    assert in_python("leave --strict out") == "leave strict= out"
    assert in_python("take --arch rnn") == "take arch='rnn'"
    assert in_python("`krohn explain S3 --arch ssm`") == "`krohn explain S3 --arch ssm`"


def test_messages_of_methods_and_of_commands_are_worded_for_who_asks() -> None:
    net = krohn.compile("C2", 4).model
    with pytest.raises(krohn.KrohnError, match=r"\(length=5\)") as told:
        net.run(["1"] * 5)
    with in_a_command():
        assert "(-T 5)" in str(krohn.KrohnError(f"word 1: {told.value}"))


def test_types_are_there_for_those_who_import() -> None:
    assert (PACKAGES / "krohn" / "py.typed").exists()


def test_errors_have_one_base() -> None:
    for error in (krohn.MachineError, krohn.CompileError, krohn.ExportError):
        assert issubclass(error, krohn.KrohnError)
    with pytest.raises(krohn.KrohnError):
        krohn.load("none.safetensors")


@pytest.mark.parametrize(
    ("keywords", "options"),
    [
        (CompileKeywords, CompileOptions),
        (ExplainKeywords, CompileOptions),
        (VerifyKeywords, Checks),
        (SearchKeywords, Search),
        (LessonKeywords, Lesson),
        (SettingKeywords, Settings),
        (MachineKeywords, MachineReading),
    ],
)
def test_keywords_have_the_types_of_the_options(keywords: type, options: type) -> None:
    said, known = get_type_hints(keywords), get_type_hints(options)
    arch = said.pop("arch", None)  # `krohn explain` knows some architectures only
    assert said.items() <= known.items()
    assert set(get_args(arch)) <= set(get_args(known.get("arch")))
