"""What kind of machine a machine is, with evidence that a reader can check."""

from algebra.classification.classify import Classification, classify
from algebra.classification.group_names import Subgroup
from algebra.classification.property import Property

__all__ = ["Classification", "Property", "Subgroup", "classify"]
