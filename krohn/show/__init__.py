"""The text that the commands print for people."""

from krohn.show.explanation import explanation, facts, zoo
from krohn.show.machine import (
    counting_program,
    decomposition,
    equivalence,
    learned,
    twins,
)
from krohn.show.network import (
    answers,
    attention,
    compiled,
    evidence,
    program,
    replay,
    report,
    steps,
    trusted,
)
from krohn.show.tables import (
    batch,
    beliefs,
    comparison,
    decompiled,
    grammar,
    score,
    workbench,
    workbench_check,
)

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
    "score",
    "steps",
    "trusted",
    "twins",
    "workbench",
    "workbench_check",
    "zoo",
]
