"""Which algorithm? What a network holds of a derived one's variables, and what it uses."""

from compare.probes.attention_landmarks import (
    AttentionComparison,
    HeadSimilarity,
    LandmarkAttention,
    attended,
)
from compare.probes.probe_map import Cell, ProbeMap, Row
from compare.probes.survey import Survey, survey

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
