"""The text that the commands print for people."""

from krohn.show.explanation import (
    explanation as explanation,
    facts as facts,
    zoo as zoo,
)
from krohn.show.machine import (
    decomposition as decomposition,
)
from krohn.show.network import (
    answers as answers,
    compiled as compiled,
    evidence as evidence,
    program as program,
    replay as replay,
    report as report,
    steps as steps,
    trusted as trusted,
)
