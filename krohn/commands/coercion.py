"""The values of options: plain ones are read here, the others by typer.

typer lets pydantic read every value, even none, and pydantic takes half as long to import
as numpy.
"""

import os
import re
from pathlib import Path
from typing import Any

NUMBERS = {
    int: re.compile(r"[+-]?[0-9]+"),
    float: re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"),
}
"""The numbers that are read here, by their type: most of those that people write."""


class PlainValues:
    """What reads the values of a parameter in the place of typer's own reader.

    Args:
        parameter: The parameter of a command, of typer.
    """

    def __init__(self, parameter: Any) -> None:
        self.type = parameter.type_descriptor.annotation
        self.info = parameter.type_descriptor.parameter_info

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a parameter, from what was given for it.

        Raises:
            UsageError: If it is none; typer says why.
        """
        if value is None and not (param.multiple or param.nargs == -1):
            return None
        if self.type == list[str] and isinstance(value, list | tuple):
            return list(value)
        if (read := self._plain(value)) is not None:
            return read
        from typer._coercion import build_runtime_param

        return build_runtime_param(param.type_descriptor).coerce(value, param, ctx)

    def _plain(self, value: Any) -> Any:
        """The value, if it is plain; else None."""
        if self.info.parser is not None or self.info.clamp:
            return None
        if self.type in (str, bool):
            return value if isinstance(value, self.type) else None
        if self.type is Path:
            return self._plain_path(value)
        return self._plain_number(value) if self.type in NUMBERS else None

    def _plain_path(self, value: Any) -> Path | None:
        """The path of a file that can be read, or of none."""
        checked = self.info.exists or self.info.resolve_path or self.info.writable
        if checked or not isinstance(value, str):
            return None
        path = Path(value)
        plain = path.is_file() and os.access(path, os.R_OK)
        return path if plain or not os.path.lexists(path) else None

    def _plain_number(self, value: Any) -> Any:
        """The number that is given as such, or written as people do, and in range."""
        if isinstance(value, str) and NUMBERS[self.type].fullmatch(value):
            value = self.type(value)
        if type(value) is not self.type:
            return None
        least, most = self.info.min, self.info.max
        large = least is None or value >= least
        return value if large and (most is None or value <= most) else None


def read_plain_values(parameters: list[Any]) -> list[Any]:
    """Replace the reader of typer, in versions that have one of their own."""
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", parameter) is None:
            parameter._runtime_param = PlainValues(parameter)
    return parameters
