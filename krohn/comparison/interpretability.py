"""What is found inside trained networks: variables, their use, patterns of attention."""

from dataclasses import dataclass

from krohn.compare.probes.probe_map import ProbeMap


@dataclass(frozen=True)
class ProbeResult:
    """Which variables of derived networks a trained one holds and uses.

    Attributes:
        key: Of the model.
        title: Which network.
        found: The map.
    """

    key: str
    title: str
    found: ProbeMap


@dataclass(frozen=True)
class AttentionMap:
    """A head's pattern on one word, trained or compiled.

    Attributes:
        key: Of the model.
        title: Which head.
        weights: A row for each position that looks.
        remark: What it is most like, for example.
    """

    key: str
    title: str
    weights: tuple[tuple[float, ...], ...]
    remark: str = ""


@dataclass(frozen=True)
class AttentionMaps:
    """Heads of several networks on one word.

    Attributes:
        word: Its letters.
        patterns: Compiled heads first.
        remarks: What figures of similarity say.
    """

    word: tuple[str, ...]
    patterns: tuple[AttentionMap, ...]
    remarks: tuple[str, ...] = ()
