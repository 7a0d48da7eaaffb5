"""The classes of the theory that a machine belongs to, with evidence to check."""

from krohn.algebra.classification.classify import Classification, classify
from krohn.algebra.classification.findings import Subgroup
from krohn.algebra.classification.properties import Property

__all__ = ["Classification", "Property", "Subgroup", "classify"]
