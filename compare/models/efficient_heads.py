"""Weights of sparse and linear heads, for networks that are trained."""

import math

import torch
from torch import Tensor

from krohn.compare.models.architecture import EfficientGpt
from krohn.network.attention_kind import Sparse
from krohn.network.mixing import phi


def mixed(architecture: EfficientGpt, query: Tensor, key: Tensor) -> Tensor:
    """``(batch, heads, queries, keys)``: how much each query takes of each position.

    All pairs are formed: for the short texts of a training run that is quickest.

    Args:
        architecture: Says how positions are weighed.
        query: ``(batch, heads, queries, k)``: of the last positions.
        key: ``(batch, heads, keys, k)``: of all of them.
    """
    count, asked = key.shape[2], query.shape[2]
    j = torch.arange(1, count + 1, device=key.device)
    i = j[count - asked :, None]
    if architecture.attention == "linear":
        found = (phi(query) @ phi(key).transpose(-1, -2)).masked_fill(j > i, 0.0)
        return found / found.sum(dim=-1, keepdim=True)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    seen: Tensor = Sparse(architecture.block, 1, 1).sees(i, j)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
