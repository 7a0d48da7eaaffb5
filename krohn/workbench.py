"""The workbench under its public name; what is in it lies in `instruments/workbench`."""

from typing import TYPE_CHECKING

from krohn.slice_modules import contents

if TYPE_CHECKING:
    from krohn.instruments.workbench.workbench import *  # noqa: F403
else:
    __getattr__, __dir__ = contents("workbench", "the workbench")
