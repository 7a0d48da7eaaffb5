"""Evidence of texts in blocks: what a Program can hold beside a legal text."""

from typing import Any

from krohn.kinds.blocks.check import legal_texts
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.search.refinement import of_model


def refinement(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A refinement of the machine of legal texts.

    Raises:
        Refused: If none is found.
        WrongWord: With a shortest word, if the Program is another one.
    """
    del machine
    return of_model(model, legal_texts(model))
