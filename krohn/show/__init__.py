"""The text that the commands print for people."""

from krohn.show.explanation import (
    explanation as explanation,
    facts as facts,
    zoo as zoo,
)
from krohn.show.machine import (
    counting_program as counting_program,
    decomposition as decomposition,
    equivalence as equivalence,
    learned as learned,
    twins as twins,
)
from krohn.show.network import (
    answers as answers,
    attention as attention,
    compiled as compiled,
    evidence as evidence,
    program as program,
    replay as replay,
    report as report,
    steps as steps,
    trusted as trusted,
)
from krohn.show.tables import (
    batch as batch,
    beliefs as beliefs,
    comparison as comparison,
    decompiled as decompiled,
    grammar as grammar,
    score as score,
    workbench as workbench,
    workbench_check as workbench_check,
)
