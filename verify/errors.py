"""Why a proof stops."""

from krohn.algebra.errors import KrohnError


class Rejected(KrohnError):
    """The checker could not establish a step; the message says which and why.

    This is no verdict about the network: it may be right although that is not proved.
    """
