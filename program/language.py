"""All names of the Program language."""

from krohn.program.errors import Refused
from krohn.program.functions import Row, Select, Sum, Table, table
from krohn.program.kinds_of_maps import is_embedded, is_sum
from krohn.program.operations.at import At
from krohn.program.operations.at_anywhere import AtAnywhere
from krohn.program.operations.base import Flagged, LookBack, Match, Operation
from krohn.program.operations.block_sum import BlockSum
from krohn.program.operations.earliest import Earliest
from krohn.program.operations.final import Final
from krohn.program.operations.latest import Latest
from krohn.program.operations.latest_match import LatestMatch
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.map import Map
from krohn.program.operations.marked_sum import MarkedSum
from krohn.program.operations.match_anywhere import MatchAnywhere
from krohn.program.operations.matrix_product import MatrixProduct
from krohn.program.operations.normalised import Normalised
from krohn.program.operations.position import Position
from krohn.program.operations.prefix_sum import PrefixSum
from krohn.program.operations.shift import Shift
from krohn.program.operations.shift_by import ShiftBy
from krohn.program.operations.sibling_latest import SiblingLatest
from krohn.program.operations.token import Token
from krohn.program.piecewise import Piecewise
from krohn.program.program import Domain, Program, Vectors
from krohn.program.statement import cone

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
