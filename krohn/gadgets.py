"""Gadgets under their public name; what is in it lies in `instruments/gadgets`."""

from typing import TYPE_CHECKING

from krohn.slice_modules import contents

if TYPE_CHECKING:
    from krohn.instruments.gadgets.catalogue import *  # noqa: F403
else:
    __getattr__, __dir__ = contents("gadgets", "the library of gadgets")
