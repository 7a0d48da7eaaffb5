"""How heads look back: a `Lowering` for each operation that looks at other positions.

`Lowering.of` has them by their operations; a new file is found by itself.
"""

from importlib import import_module
from pkgutil import iter_modules

from krohn.compiler.attention.base import Head, Lowering, look

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Head", "Lowering", "look"]
