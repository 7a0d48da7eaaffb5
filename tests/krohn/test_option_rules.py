"""Options that would do nothing are refused, in one line."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import pytest

import krohn
from krohn import option_rules
from krohn.algebra.errors import KrohnError
from krohn.commands import compile as compile_command, draw, run, verify

COMPILE = ["compile", "C2"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"arch": "rnn", "length": 5}, "length= is for Transformers"),
        ({"arch": "rnn", "strict": True}, "strict=True is for Transformers"),
        ({"arch": "rnn", "uniform": True}, "uniform=True is for Transformers"),
        ({"arch": "rnn", "activation": "sine"}, "activation= is for Transformers"),
        ({"arch": "rnn", "minimise": "nonsense"}, "minimise= is for Transformers"),
        ({"arch": "lstm", "length": 5}, "length= is for Transformers"),
        ({"length": 5, "minimise": "nonsense"}, "minimise= takes depth, widest"),
        (
            {"length": 5, "minimise": "nonsense", "construction": "scan"},
            "minimise= takes depth, widest",
        ),
    ],
)
def test_python_refuses_the_same(how: dict[str, Any], message: str) -> None:
    with pytest.raises(KrohnError, match=message):
        krohn.compile("C2", **how)


@pytest.mark.parametrize(
    ("command", "table"),
    [
        (compile_command.compile, option_rules.COMPILE),
        (verify.verify, option_rules.VERIFY),
        (verify.recheck, option_rules.HELD),
        (run.run, option_rules.RUN),
        (draw.draw, option_rules.DRAW),
    ],
)
def test_tables_name_options_that_there_are(
    command: Callable[..., object], table: tuple[option_rules.Need, ...]
) -> None:
    named = {option for need in table for option in need.options}
    assert named <= set(signature(command).parameters)
