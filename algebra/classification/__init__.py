"""What kind of machine a machine is, with evidence that a reader can check."""

from krohn.algebra.classification.classify import Classification, classify
from krohn.algebra.classification.group_names import Subgroup
from krohn.algebra.classification.property import Property

__all__ = ["Classification", "Property", "Subgroup", "classify"]
