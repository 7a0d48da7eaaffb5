"""Texts in blocks, which are followed beside the machine of legal texts (Theorem 5j)."""

from typing import Any

from krohn.kinds.blocks.statement import Blocks, words_of
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.transformer import Reference, beside


def legal_texts(model: Model) -> Machine:
    """The machine of the legal texts of a file."""
    return Machine(*Blocks.from_wire(model.source).legal())


def reference(model: Model, said: Any) -> Reference:
    """The Program of a file, followed in legal texts."""
    program, readings, _ = beside(model, said, legal_texts(model))
    blocks = Blocks.from_wire(model.source)
    inputs = words_of(model.claim, len(blocks.letters), blocks.block)
    return Reference(program, readings, inputs)
