"""The operations, one file each.

`base.Operation.named` has them by their names on file; a new file is found by itself.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
