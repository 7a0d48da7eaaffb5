"""Attention: one rule for each operation that looks at other positions."""

from krohn.verify.checker.attention.heads import Heads, Look, Rule

__all__ = ["Heads", "Look", "Rule"]
