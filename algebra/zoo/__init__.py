"""The machines of the thesis by name, with its ways to draw words for them."""

from algebra.zoo.catalogue import description, machine, names, sampler
from algebra.zoo.samplers import Sampler

__all__ = ["Sampler", "description", "machine", "names", "sampler"]
