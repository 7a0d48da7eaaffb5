"""Numbers with their nouns, and texts cut to a length."""


def count(number: int, noun: str, plural: str = "s") -> str:
    """A number with its noun: ``1 letter``, ``2,000 letters``."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters, the last one ``…`` if some are missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
