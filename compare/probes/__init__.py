"""Which algorithm? What a network holds of a derived one's variables, and what it uses."""

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
