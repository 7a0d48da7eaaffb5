"""The Program language, said once: what operations are, mean, can be and remember.

Compiler and checker both read this package. How an operation becomes tensors is the
compiler's business, how tensors are shown to be it is the checker's; neither knows the
other.
"""

from program.errors import Refused
from program.functions import Row, Select, Sum, Table, table
from program.operations import (
    At,
    Earliest,
    Latest,
    LatestMatch,
    LookBack,
    Map,
    MarkedSum,
    Operation,
    Position,
    PrefixSum,
    Shift,
    SiblingLatest,
    Token,
)
from program.program import Domain, Program, cone, is_embedded, is_sum

__all__ = [
    "At",
    "Domain",
    "Earliest",
    "Latest",
    "LatestMatch",
    "LookBack",
    "Map",
    "MarkedSum",
    "Operation",
    "Position",
    "PrefixSum",
    "Program",
    "Refused",
    "Row",
    "Select",
    "Shift",
    "SiblingLatest",
    "Sum",
    "Table",
    "Token",
    "cone",
    "is_embedded",
    "is_sum",
    "table",
]
