"""A head that looks where binary digits say, before or after."""

from krohn.verify.checker.attention.at import Pointed


class PointedAnywhere(Pointed):
    """The position that digits say, if it is one of 1, …, n; else BOS.

    The bounds of `Pointed` hold for every set of positions that is seen.
    """

    operation = "at-anywhere"
