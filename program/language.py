"""All names of the Program language."""

from program.errors import Refused
from program.functions import Row, Select, Sum, Table, table
from program.operations.at import At
from program.operations.at_anywhere import AtAnywhere
from program.operations.base import Flagged, LookBack, Match, Operation
from program.operations.block_sum import BlockSum
from program.operations.earliest import Earliest
from program.operations.final import Final
from program.operations.latest import Latest
from program.operations.latest_match import LatestMatch
from program.operations.letter_matrix import LetterMatrix
from program.operations.map import Map
from program.operations.marked_sum import MarkedSum
from program.operations.match_anywhere import MatchAnywhere
from program.operations.matrix_product import MatrixProduct
from program.operations.normalised import Normalised
from program.operations.position import Position
from program.operations.prefix_sum import PrefixSum
from program.operations.shift import Shift
from program.operations.shift_by import ShiftBy
from program.operations.sibling_latest import SiblingLatest
from program.operations.token import Token
from program.piecewise import Piecewise
from program.program import Domain, Program, Vectors, cone, is_embedded, is_sum

__all__ = [
    "At",
    "AtAnywhere",
    "BlockSum",
    "Domain",
    "Earliest",
    "Final",
    "Flagged",
    "Latest",
    "LatestMatch",
    "LetterMatrix",
    "LookBack",
    "Map",
    "MarkedSum",
    "Match",
    "MatchAnywhere",
    "MatrixProduct",
    "Normalised",
    "Operation",
    "Piecewise",
    "Position",
    "PrefixSum",
    "Program",
    "Refused",
    "Row",
    "Select",
    "Shift",
    "ShiftBy",
    "SiblingLatest",
    "Sum",
    "Table",
    "Token",
    "Vectors",
    "cone",
    "is_embedded",
    "is_sum",
    "table",
]
