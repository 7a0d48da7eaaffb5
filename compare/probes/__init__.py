"""Which algorithm? The variables of a derived network that a trained one holds or uses."""

from krohn.compare.probes.attention_landmarks import (
    AttentionComparison,
    HeadSimilarity,
    LandmarkAttention,
    attended,
)
from krohn.compare.probes.probe_map import Cell, ProbeMap, Row
from krohn.compare.probes.survey import Survey, survey

__all__ = [
    "AttentionComparison",
    "Cell",
    "HeadSimilarity",
    "LandmarkAttention",
    "ProbeMap",
    "Row",
    "Survey",
    "attended",
    "survey",
]
