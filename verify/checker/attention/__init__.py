"""Attention: one rule for each operation that looks at other positions."""

from importlib import import_module
from pkgutil import iter_modules

from verify.checker.attention.heads import Heads, Look, Rule

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Heads", "Look", "Rule"]
