"""Which algorithm? The variables of a derived network that a trained one holds or uses."""

from krohn.instruments.compare.probes.attention_landmarks import (
    AttentionComparison,
    HeadSimilarity,
    LandmarkAttention,
    compare_heads,
)
from krohn.instruments.compare.probes.probe_map import (
    Cell,
    ProbeMap,
    Row,
)
from krohn.instruments.compare.probes.survey import (
    Survey,
    survey,
)

__all__ = [
    "AttentionComparison",
    "Cell",
    "HeadSimilarity",
    "LandmarkAttention",
    "ProbeMap",
    "Row",
    "Survey",
    "compare_heads",
    "survey",
]
