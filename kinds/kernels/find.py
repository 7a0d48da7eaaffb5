"""Evidence of linear RNNs: which units are linked."""

import numpy as np

from krohn.kinds.kernels.check_rnn import recurrence_of
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.search.exact_walk import pack_array


def groups(model: Model, machine: Machine | None) -> list[dict[str, str]]:
    """A number for each unit, equal where entries of the recurrence link them."""
    del machine
    w = recurrence_of(model)
    group, before = np.arange(w.size), np.full(w.size, -1)
    while not np.array_equal(group, before):
        before = group.copy()
        least = np.minimum(group[w.rows], group[w.columns])
        np.minimum.at(group, w.rows, least)
        np.minimum.at(group, w.columns, least)
        group = group[group]
    return [{"groups": pack_array(group)}]
