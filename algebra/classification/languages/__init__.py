"""The classes of languages that a machine's language belongs to (docs/classes.md)."""

from krohn.algebra.classification.languages.classify import (
    LanguageClasses,
    classify_language,
)
from krohn.algebra.classification.languages.language import Language, language_of

__all__ = ["Language", "LanguageClasses", "classify_language", "language_of"]
