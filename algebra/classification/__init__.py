"""The classes of the theory that a machine belongs to, with evidence to check."""

from krohn.algebra.classification.classify import Classification, classify
from krohn.algebra.classification.group_names import Subgroup
from krohn.algebra.classification.property import Property

__all__ = ["Classification", "Property", "Subgroup", "classify"]
