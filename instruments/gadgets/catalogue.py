"""The gadgets by their public names, `krohn.gadgets`."""

from krohn.instruments.gadgets import printed
from krohn.instruments.gadgets.brackets import (
    chosen_network,
    component,
    composition,
    interpolation,
    place,
    table,
    table_of_several,
    threshold,
)
from krohn.instruments.gadgets.certificates import (
    Deviation,
    TooFarOff,
    certify,
    largest_deviation,
)
from krohn.instruments.gadgets.choices import (
    comparison,
    distance,
    equality,
    gate,
    linear,
    maximum,
    minimum,
    multiplication,
    selection,
    slots,
    with_gelus,
)
from krohn.instruments.gadgets.record import Case, Gadget
from krohn.instruments.gadgets.whole_numbers import (
    bends,
    block_number,
    division,
    lookup,
    one_hot,
    rounding,
    thermometer,
)

__all__ = [
    "Case",
    "Deviation",
    "Gadget",
    "TooFarOff",
    "bends",
    "block_number",
    "certify",
    "chosen_network",
    "comparison",
    "component",
    "composition",
    "distance",
    "division",
    "equality",
    "gate",
    "interpolation",
    "largest_deviation",
    "linear",
    "lookup",
    "maximum",
    "minimum",
    "multiplication",
    "one_hot",
    "place",
    "printed",
    "rounding",
    "selection",
    "slots",
    "table",
    "table_of_several",
    "thermometer",
    "threshold",
    "with_gelus",
]
