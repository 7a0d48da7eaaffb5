"""What the commands print for people."""

from krohn.show.batch import batch
from krohn.show.cascade import decomposition
from krohn.show.comparison import beliefs, comparison
from krohn.show.decompiled import decompiled
from krohn.show.equivalence import counting_program, equivalence, twins
from krohn.show.explanation import explanation, facts, zoo
from krohn.show.grammar import grammar
from krohn.show.learning import learned
from krohn.show.network import answers, attention, compiled, program, steps
from krohn.show.verdict import evidence, replay, report, trusted

__all__ = [
    "answers",
    "attention",
    "batch",
    "beliefs",
    "comparison",
    "compiled",
    "counting_program",
    "decompiled",
    "decomposition",
    "equivalence",
    "evidence",
    "explanation",
    "facts",
    "grammar",
    "learned",
    "program",
    "replay",
    "report",
    "steps",
    "trusted",
    "twins",
    "zoo",
]
