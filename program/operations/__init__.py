"""The operations, one file each; `Operation.named` has them by their names on file."""

from program.operations.at import At
from program.operations.base import Frame, LookBack, Operation
from program.operations.earliest import Earliest
from program.operations.latest import Latest
from program.operations.latest_match import LatestMatch
from program.operations.map import Map
from program.operations.marked_sum import MarkedSum
from program.operations.position import Position
from program.operations.prefix_sum import PrefixSum
from program.operations.shift import Shift
from program.operations.sibling_latest import SiblingLatest
from program.operations.token import Token

__all__ = [
    "At",
    "Earliest",
    "Frame",
    "Latest",
    "LatestMatch",
    "LookBack",
    "Map",
    "MarkedSum",
    "Operation",
    "Position",
    "PrefixSum",
    "Shift",
    "SiblingLatest",
    "Token",
]
