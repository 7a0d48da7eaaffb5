"""A head that finds the last position of the word with a key."""

from krohn.compiler.attention.latest_match import LatestMatchLowering
from krohn.program import MatchAnywhere


class MatchAnywhereLowering(LatestMatchLowering):
    """The scores do not say who looks, so they serve whoever sees all positions."""

    operation = MatchAnywhere
