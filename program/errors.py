"""The one way in which a Program, a file or evidence is refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Never, NoReturn

import numpy as np

MOST_LETTERS = 300


class KrohnError(Exception):
    """A problem with the user's input; the message says what to do about it.

    Commands print the message on one line and exit with code 2. It names parameters of
    Python, or options if a command asks (`krohn.program.wording`).
    """

    def __str__(self) -> str:
        from krohn.program.wording import message_for_user  # no proof rests on it

        return message_for_user(super().__str__())


class Refused(KrohnError):
    """Something that is stated cannot be, or is not shown; the message says where."""


def demand(condition: Any, reason: str) -> None:
    """Refuse with a reason if a condition does not hold; NaN makes none hold."""
    if not (condition if type(condition) in (bool, np.bool_) else np.all(condition)):
        raise Refused(reason[:MOST_LETTERS])


def refuse_unknown(value: Never, who: str) -> NoReturn:
    """End a `match`: refuse by name what somebody is not about.

    Types show that nothing is left; what is added to the format later is refused by each
    part until that part is taught.

    Args:
        value: What no case is about; types let nothing through.
        who: Who is not about it, as a message begins.

    Raises:
        Refused: Always.
    """
    name = getattr(value, "kind", value)
    raise Refused(f"{who} is not about {str(name)[:60]!r}")


@contextmanager
def told_as(error: type[Exception] = KrohnError, about: str = "") -> Iterator[None]:
    """Raise what is refused inside as an error of a kind, with words before the reason."""
    try:
        yield
    except Refused as reason:
        raise error(f"{about}{reason}") from None
