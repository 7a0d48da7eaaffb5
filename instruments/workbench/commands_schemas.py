"""Types of workbenches as JSON."""

from typing import Literal, TypedDict

from krohn.instruments.workbench.answers import Answers
from krohn.instruments.workbench.checking import Checked as CheckedModel
from krohn.instruments.workbench.contents import Made


class WorkbenchIndex(TypedDict):
    """The list of the networks of a workbench: workbench.json."""

    format: Literal["krohn-workbench"]
    version: Literal[3]
    seed: int
    words: int
    models: list[Made]


WorkbenchWord = TypedDict(
    "WorkbenchWord", {"word": list[str], "from": int, "answers": Answers}
)


class Interchange(TypedDict):
    """An interchange intervention, a line of pairs.jsonl.

    Attributes:
        base: The word that is run.
        source: The word that the variable's value is from.
        position: Where it is given, from 1.
        answers: The answers then, after each letter: names, or the numbers of a law.
    """

    base: list[str]
    source: list[str]
    variable: str
    position: int
    value: int
    answers: Answers


class WorkbenchMade(TypedDict):
    """The networks of a workbench that were made."""

    models: list[Made]


class WorkbenchChecked(TypedDict):
    """The networks of a workbench, verified again.

    Attributes:
        wrong: How many things are wrong.
    """

    models: list[CheckedModel]
    wrong: int


WORKBENCH = WorkbenchMade | WorkbenchChecked
"""What ``krohn workbench`` prints."""
