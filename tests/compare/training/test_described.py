"""Plain values have one description, and equal descriptions have equal names."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.compare.training import Recipe, Sharpening
from krohn.compare.training.provenance import canonical_text, content_name, describe


@dataclass(frozen=True)
class Holder:
    held: object


def test_descriptions_are_json_that_names_kinds() -> None:
    found = describe(Recipe(sharpening=Sharpening(0.1), betas=(0.9, 0.99)))
    assert json.loads(canonical_text(found)) == found
    assert found["kind"] == "Recipe"
    assert found["sharpening"]["kind"] == "Sharpening"
    assert found["betas"] == [0.9, 0.99]


def test_machines_are_described_so_that_they_can_be_read_again() -> None:
    machine = zoo.machine("D8")
    assert json_format.from_object(describe(machine)) == machine


def test_names_go_by_content_and_not_by_the_order_of_keys() -> None:
    assert content_name({"a": 1, "b": 2}) == content_name({"b": 2, "a": 1})
    assert content_name({"a": 1}) != content_name({"a": 1.5})
    assert content_name({"a": "⊥\ud800"}) == content_name({"a": "⊥\ud800"})


def test_what_is_no_plain_value_has_no_description() -> None:
    with pytest.raises(KrohnError, match="a ndarray has no description"):
        describe(Holder(np.zeros(2)))
