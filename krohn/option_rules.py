"""Which options have an effect only beside others: one table for each command.

An option that does nothing is an error, in one line that says what it needs.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.network.precision import PRECISIONS
from krohn.program.slices import find_in_slices, slices
from krohn.program.wording import SPELLED

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Need:
    """Options that have an effect only if something holds.

    Attributes:
        options: The names of their parameters.
        holds: Whether they have an effect, from the values of all parameters.
        why: What is said after the first of them that was given.
    """

    options: tuple[str, ...]
    holds: Callable[[Values], bool]
    why: str


def refuse(needs: Collection[Need], values: Values, given: Collection[str]) -> None:
    """Refuse options that do nothing.

    Args:
        needs: The table of the command.
        values: Of all parameters, by name.
        given: Which parameters were given.

    Raises:
        KrohnError: If one of them does nothing.
    """
    for need in needs:
        for option in need.options:
            if option in given and not need.holds(values):
                raise KrohnError(f"{spell_option(option)} {need.why}")


def refuse_others(given: Collection[str], takes: Collection[str], what: str) -> None:
    """Refuse options that a source of another kind than a machine has no use for.

    Raises:
        KrohnError: If one was given.
    """
    for option in given:
        if option not in ALWAYS and option not in takes:
            raise KrohnError(f"{spell_option(option)} has no effect on {what}")


IN_BLOCKS = (
    "block",
    "strict",
    "keep",
    "activation",
    "positions",
    "start",
    "complete",
    "read_as",
)
"""The options of a machine that writes its state into the text."""

OF_SOURCES = (
    "file",
    "machine",
    "proof",
    "exhaustive",
    "sample",
    "seed",
    "evidence",
    "trusted",
    "digest",
    "kernel",
    "as_json",
)
"""The options of `krohn verify` that a file about a source other than a machine takes."""

ALWAYS = (
    "machine",
    "length",
    "output",
    "dtype",
    "proof",
    "progress",
    "compact",
    "as_json",
)
"""Options that every source takes, or answers itself."""


def spell_option(option: str) -> str:
    """An option as it is written in a command."""
    return SPELLED.get(option, f"--{option.replace('_', '-')}")


def is_given(*names: str) -> Callable[[Values], bool]:
    """Whether one of some options is given: a function of the options."""

    def holds(values: Values) -> bool:
        return any(values[name] not in (None, False) for name in names)

    return holds


def _is_balanced(values: Values) -> bool:
    return bool(values["construction"] == "balanced")


def _searches(values: Values) -> bool:
    from krohn.compiler.constructions.registry import SEARCHING

    return values["construction"] in ("auto", *SEARCHING)


def architectures() -> list[str]:
    """The architectures that a machine is compiled to."""
    others = (arch for each in slices().values() for arch, _ in each.networks)
    return [*dict.fromkeys(["transformer", *others])]


def one_of_architectures() -> str:
    """All of them in words."""
    *names, last = architectures()
    return f"{', '.join(names)} or {last}"


def explained_architectures() -> list[str]:
    """Those of whose networks there are facts before one is compiled."""
    others = [
        n for n in architectures() if find_in_slices("parts", facts_of(n)) is not None
    ]
    return ["transformer", *others]


def facts_of(architecture: str) -> str:
    """The part of a slice that says facts of a machine's networks, in a table."""
    return f"facts of {architecture}"


def _recurrent(values: Values) -> bool:
    """Whether networks of the architecture read a letter at a time."""
    from krohn.network.architecture import kind_named

    kind = kind_named(values["arch"])
    return kind is not None and kind.recurrent


def _endless(values: Values) -> bool:
    """Whether networks of the architecture are for words of every length."""
    from krohn.network.architecture import kind_named

    kind = kind_named(values["arch"])
    return kind is not None and kind.recurrent and not kind.bounded


FORM = Need(
    (
        "strict",
        "keep",
        "activation",
        "uniform",
        "positions",
        "minimise",
        "effort",
        "passes",
        "disguise",
    ),
    lambda values: not _recurrent(values),
    "is for Transformers; recurrent networks have one form (--arch)",
)
"""The options that recurrent networks have no use for, whatever they compute."""

TRANSFORMER = (
    Need(
        ("addresses",),
        lambda values: False,
        "is for dynamic programs and sequence functions; a machine looks at no address",
    ),
    Need(("strength",), is_given("disguise"), "is for --disguise"),
    Need(("norm",), is_given("within"), "is for --within E"),
    Need(
        ("length",),
        lambda values: not _endless(values),
        "is for Transformers; a recurrent network of a machine is for words of every "
        "length (--arch)",
    ),
    FORM,
    Need(
        ("effort",),
        _searches,
        "is for constructions that search, and for auto; this one does not",
    ),
)
"""The options that networks of states have no use for, by architecture and construction."""

COMPILE = (
    Need(
        (
            "arch",
            "start",
            "strict",
            "keep",
            "activation",
            "uniform",
            "positions",
            "minimise",
            "observe",
            "effort",
            "passes",
            "disguise",
        ),
        lambda values: not _is_balanced(values),
        "has no effect on --construction balanced, which takes none of --arch, "
        "--start, --strict, --keep, --activation, --uniform, --positions, --minimise, "
        "--observe, --effort, --passes and --disguise",
    ),
    Need(
        ("attention", "depth_layer", "scale", "opening"),
        _is_balanced,
        "is for --construction balanced only",
    ),
    Need(
        ("seed",),
        lambda values: _is_balanced(values) or is_given("disguise")(values),
        "is for --disguise, and for --construction balanced",
    ),
    *TRANSFORMER,
)

_MACHINE = Need(
    ("start", "observe", "complete", "read_as"),
    is_given("machine"),
    "needs --machine: without it the model is held against the machine that its file "
    "states",
)

HELD = (_MACHINE,)
"""Of `krohn recheck` and `krohn learn`."""

_OF_OBJECTS = ("letters", "accepting", "outputs", "limit", "edge")
HELD_IN_PYTHON = (replace(_MACHINE, options=_MACHINE.options + _OF_OBJECTS),)
"""Of functions, whose machine may be any object."""

VERIFY = (
    _MACHINE,
    Need(("smt_lib",), is_given("smt"), "needs --smt N: which words to ask about"),
    Need(("error",), is_given("gadgets"), "needs --gadgets NOISE"),
    Need(
        ("machine",),
        lambda values: not is_given("gadgets")(values),
        "has no effect on --gadgets, which asks about what the file states itself",
    ),
    Need(
        ("timeout",),
        is_given("smt", "gadgets"),
        "is for questions to z3: --smt, --gadgets",
    ),
    Need(("html_effort",), is_given("html"), "needs --html OUT"),
    Need(
        ("seed",),
        lambda v: (
            is_given("sample", "smt", "gadgets", "attack", "length", "digits")(v)
            or not is_given("proof", "exhaustive")(v)
        ),
        "is of samples, attacks and z3; a proof and a run of all words do not need it",
    ),
    Need(
        ("trusted",),
        lambda v: v["proof"] or not is_given("exhaustive", "sample", "length")(v),
        "is for proofs; say --proof as well",
    ),
    Need(
        ("trusted",),
        lambda values: values["machine"] is None,
        "is for the claim of the file itself; leave --machine out",
    ),
    Need(
        ("shorten", "evidence", "trusted"),
        lambda values: not is_given("smt", "gadgets")(values),
        "has no effect on questions to z3",
    ),
    Need(
        ("jobs", "memory", "job_file", "shard", "cluster", "every_start"),
        is_given("exhaustive"),
        "is for all words up to a length; say --exhaustive N as well",
    ),
)

RUN = (
    Need(("last",), is_given("stream"), "is for --stream FILE"),
    Need(
        ("steps", "quiet"),
        lambda values: (
            not is_given("stream", "expect", "expect_own", "as_json")(values)
        ),
        "is for printed texts; leave it out with --stream, --expect and --json",
    ),
    Need(
        ("steps",),
        lambda v: not is_given("quiet")(v),
        "and --quiet exclude each other; leave one out",
    ),
    Need(
        ("word",),
        lambda values: values["stream"] is None,
        "has no effect beside --stream FILE, which reads the letters from FILE; leave "
        "it out",
    ),
    Need(
        ("expect", "expect_own"),
        lambda values: values["stream"] is None,
        "is for words; leave it out with --stream",
    ),
    Need(
        ("machine", "start", "observe", "complete", "read_as"),
        is_given("expect", "expect_own"),
        "needs --expect",
    ),
    _MACHINE,
)

DRAW = (
    Need(
        ("eggbox", "complete", "read_as", "start"),
        lambda values: not str(values["source"]).endswith((".safetensors", ".st")),
        "needs a machine, not a model file",
    ),
    Need(
        ("effort",),
        is_given("eggbox"),
        "is for --eggbox only; leave it out",
    ),
)


# Values of options as Python users have them: formats and whole numbers.


def format_name(dtype: object) -> str:
    """The name of a number format: of a name, or of a dtype of torch or numpy.

    Raises:
        KrohnError: If there is no such format here.
    """
    name = dtype if isinstance(dtype, str) else _dtype_name(dtype)
    if name not in PRECISIONS:
        raise KrohnError(
            f"there is no dtype {name!r}{near(name, PRECISIONS)}; there are "
            f"{', '.join(PRECISIONS)}"
        )
    return name


def _dtype_name(dtype: Any) -> str:
    if isinstance(dtype, type | np.dtype):
        try:
            return str(np.dtype(dtype).name)
        except TypeError:
            return str(dtype)
    return str(dtype).removeprefix("torch.")


def whole(value: Any, called: str, least: int) -> int:
    """A whole number of Python or numpy.

    Args:
        value: What was given.
        called: What it is, for messages.
        least: The smallest number that makes sense.

    Raises:
        KrohnError: If it is none, as True and 2.0 are none, or it is too small.
    """
    try:
        number = None if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise KrohnError(f"{called} is a whole number, not {value!r}")
    if number < least:
        raise KrohnError(f"{called} must be at least {least}, not {number}")
    return number
