"""Checks of the values that callers in Python give, by the types of parameters."""

import sys
from collections import abc
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from inspect import BoundArguments, Parameter, Signature, signature
from numbers import Real
from types import FunctionType, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.option_rules import whole
from krohn.program.extras import name_missing_extra

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")
Reader = Callable[[Any], Any]

LEAST = {
    "seed": 0,
    "bos": 0,
    "start": 0,
    "exhaustive_words": 0,
    "shorten": 0,
    "queries": 0,
}
"""The smallest whole number that makes sense, where it is not 1."""


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """A function that refuses values that are not of the types of its parameters.

    Whole numbers of numpy become those of Python, and so do truth values. A package that
    is not installed is named, with the extra that brings it.
    """
    called = expand_signature(function)
    read = {
        name: reader
        for name, parameter in called.parameters.items()
        if (reader := _reader(name, parameter.annotation)) is not None
    }

    @wraps(function)
    def with_values(*args: P.args, **kwargs: P.kwargs) -> R:
        given = _bind(function, called, args, kwargs)
        for name, reader in read.items():
            if name in given.arguments:
                given.arguments[name] = reader(given.arguments[name])
        with name_missing_extra(f"krohn.{function.__name__}"):
            return function(*given.args, **given.kwargs)

    with_values.__signature__ = called  # type: ignore[attr-defined]
    return with_values


def check_methods(kind: type[C]) -> type[C]:
    """A class whose public methods say what they take where arguments do not fit."""
    for name in dir(kind):
        method = getattr(kind, name)
        own = isinstance(method, FunctionType) and method.__module__.startswith(
            "krohn."
        )
        if own and not name.startswith("_"):
            setattr(kind, name, _check_call(method))
    return kind


def _check_call(method: Callable[P, R]) -> Callable[P, R]:
    called = signature(method)

    @wraps(method)
    def with_arguments(*args: P.args, **kwargs: P.kwargs) -> R:
        _bind(method, called, args, kwargs)
        return method(*args, **kwargs)

    return with_arguments


def _bind(
    function: Callable[..., Any],
    called: Signature,
    args: Sequence[Any],
    named: Mapping[str, Any],
) -> BoundArguments:
    """The arguments of a call by name.

    Raises:
        TypeError: If they do not fit; the message says what is taken.
    """
    try:
        return called.bind(*args, **named)
    except TypeError as error:
        why = _misfit(called, args, named) or str(error)
        name = function.__name__
        who = "model()" if name == "forward" else f"{name}()"
        raise TypeError(f"{who} {why}") from None


ALSO = {"T": "length", "max_length": "length", "n": "length", "samples": "sample"}
"""Other names that people have for parameters."""


def _misfit(called: Signature, args: Sequence[Any], named: Collection[str]) -> str:
    """Why arguments do not fit, with what to do; empty if some are missing."""
    taken = {n: p for n, p in called.parameters.items() if n != "self"}
    args = args[len(called.parameters) - len(taken) :]
    if any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return ""
    strange = next((name for name in named if name not in taken), None)
    if strange is not None:
        other = ALSO.get(strange)
        hint = near(strange, taken) if other not in taken else f" (say {other}=)"
        return f"takes no {strange}={hint}; it takes {', '.join(taken) or 'nothing'}"
    by_place = [n for n, p in taken.items() if p.kind is not Parameter.KEYWORD_ONLY]
    if len(args) <= len(by_place):
        return ""
    rest = ", ".join(f"{name}=" for name in taken if name not in by_place)
    if not rest:
        return (
            f"takes {', '.join(by_place) + ' and no more' if by_place else 'nothing'}"
        )
    return f"takes {', '.join(by_place) or 'nothing'} by place; all else has a name: {rest}"


def expand_signature(function: Callable[..., Any]) -> Signature:
    """The signature of a function, in which keywords that a dict types are parameters."""
    called, parameters = signature(function), list[Parameter]()
    for each in called.parameters.values():
        if each.kind is Parameter.VAR_KEYWORD and get_args(each.annotation):
            (keywords,) = get_args(each.annotation)
            hints, only = get_type_hints(keywords), Parameter.KEYWORD_ONLY
            parameters += [
                Parameter(name, only, default=default, annotation=hints[name])
                for name, default in _usual(keywords).items()
            ]
        else:
            parameters.append(each)
    return called.replace(parameters=parameters)


def _usual(keywords: type) -> dict[str, Any]:
    """The defaults of keywords: those of the dataclass beside them that has them all."""
    names = set(get_type_hints(keywords))
    beside = filter(is_dataclass, vars(sys.modules[keywords.__module__]).values())
    own = next(fs for fs in map(fields, beside) if names <= {f.name for f in fs})
    return {f.name: f.default for f in own if f.name in names}


def _reader(name: str, annotation: Any) -> Reader | None:
    """The reader of a parameter of a type; None if anything may be given."""
    union = get_origin(annotation) in (Union, UnionType)
    types = set(get_args(annotation)) if union else {annotation}
    others = types - {type(None)}
    if len(others) != 1:
        return None
    (only,) = others
    known = get_args(only) if get_origin(only) is Literal else ()
    readers: dict[Any, Reader] = {
        int: partial(whole, called=name, least=LEAST.get(name, 1)),
        bool: partial(_truth, name),
        float: partial(_real, name),
        str: partial(_text, name),
    }
    reader = partial(_one_of, name, known) if known else readers.get(only)
    if get_origin(only) is abc.Callable:
        reader = partial(_function, name)
    if reader is None or len(types) == 1:
        return reader
    return lambda value: None if value is None else reader(value)


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise KrohnError(f"{name} is True or False, not {value!r}")


def _real(name: str, value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        return float(value)
    raise KrohnError(f"{name} is a number, not {value!r}")


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise KrohnError(f"{name} is a string, not {value!r}")


def _function(name: str, value: Any) -> Any:
    if callable(value):
        return value
    raise KrohnError(f"{name} is a function, not {value!r}")


def _one_of(name: str, known: tuple[Any, ...], value: Any) -> Any:
    if isinstance(value, str) and value in known:
        return value
    listed = " or ".join(map(repr, known))
    hint = near(value, known) if isinstance(value, str) else ""
    raise KrohnError(f"{name}= takes {listed}, not {value!r}{hint}")
