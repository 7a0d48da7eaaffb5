"""A head that finds the last position of the word with a key."""

from krohn.verify.checker.attention.latest_match import LatestEqual


class LastEqualOfAll(LatestEqual):
    """Any position from 1 up to n; else BOS: row t stands for words of t letters."""

    operation = "match-anywhere"
