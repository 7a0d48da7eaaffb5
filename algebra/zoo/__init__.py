"""The machines of the thesis by name, with its ways to draw words for them."""

from krohn.algebra.zoo.catalogue import description, machine, names, sampler
from krohn.algebra.zoo.samplers import Sampler

__all__ = ["Sampler", "description", "machine", "names", "sampler"]
