"""A head that finds the last position of the word with a key."""

from compiler.attention.latest_match import LatestMatchLowering
from program import MatchAnywhere


class MatchAnywhereLowering(LatestMatchLowering):
    """The scores do not say who looks, so they serve whoever sees all positions."""

    operation = MatchAnywhere
