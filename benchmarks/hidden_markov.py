"""Facts of hidden Markov models: mixing times, entropy floors, observability, memory.

python benchmarks/hidden_markov.py
"""

from collections.abc import Iterator
from math import log
from typing import Any

import numpy as np
from model_memory import forgotten, history_spread, stated_memory
from report import Row, Table, parser, publish

from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.commands_facts import (
    facts,
    gamma,
)
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    drive_system,
)
from krohn.kinds.hidden_markov.source_structure import (
    mixing_time,
    observation_operator,
    rank,
)
from krohn.kinds.linear_systems import source as linear_systems
from krohn.program.domains import FloatArray
from krohn.source_kinds import find_source_to_compile

LENGTH, SEEDS, WORDS = 120, 5, 2000
PRINTED = {"0.01": 120.0, "0.03": 69.4, "0.05": 42.2, "0.1": 21.4, "0.15": 14.2}
"""Table 1 of Hu et al. 2024: mixing times of Cyclic-RND by ε."""
PRINTED_RANDOM, PRINTED_DYNAMICS = 1.6, 3.12
TARGET = 0.01
"""The error of which the memory that a bound states is printed."""
DEPTHS = {
    "unless TC⁰": "no, unless TC⁰ = NC¹",
    "are solvable": "yes, exact",
    "for any error above 0": "yes, within an error",
    "not known whether": "not known",
}
"""The short words on depth, by the sentence of `facts`."""
EVERY = (
    *("Cyclic-DET5,5@3", "Cyclic-DET4,2@3", "Cyclic-RND5,5@3", "Cyclic-RND4,2@3"),
    *("Cyclic-HARD5,5@3", "Cyclic-HARD3,2@1", "RanHMM5,5@3"),
    *("Mess3", "RRXOR", "EvenProcess", "GoldenMean"),
)


def model(name: str) -> HiddenMarkovModel:
    """The model of a name; a linear system is driven by its letters."""
    found = hidden_markov.find_by_name(name)
    if found is None:
        system = linear_systems.find_by_name(name)
        assert system is not None
        found = drive_system(system)
    return found


def linear_dynamics() -> Any:
    """The Kalman predictor of the family without letters."""
    found = find_source_to_compile("RanLDS5@0")
    assert found is not None
    return found[1]


def main() -> None:
    """Print the tables of docs/kinds/hidden_markov.md."""
    options = parser(__doc__).parse_args()
    publish((_mixing(), _floors(), _known(), _memory()), options)


def _mixing() -> Table:
    rows = [
        _mixed(f"Cyclic-RND5,5:ε={back}", back, printed)
        for back, printed in PRINTED.items()
    ]
    rows.append(
        _times("RanHMM5,5", [f"RanHMM5,5@{s}" for s in range(20)], PRINTED_RANDOM)
    )
    rows.append(_times("Cyclic-DET5,5", ["Cyclic-DET5,5@0"], None))
    rows.append(
        _times("Cyclic-HARD5,5", [f"Cyclic-HARD5,5@{s}" for s in range(SEEDS)], None)
    )
    time = log(0.05) / log(linear_dynamics().steady.forgetting)
    rows.append({"source": "RanLDS5", "T_mix": time, "printed": PRINTED_DYNAMICS})
    note = (
        f"Means over seeds ({SEEDS}; 20 of RanHMM), {WORDS:,} words each; least and "
        "largest ends of the intervals of 95 %. Of RanLDS it is ln 0.05 / ln ζ."
    )
    return Table("Mixing times", rows, note)


def _mixed(source: str, back: str, printed: float) -> Row:
    names = [f"Cyclic-RND5,5@{seed}:epsilon={back}" for seed in range(SEEDS)]
    return _times(source, names, printed)


def _times(source: str, names: list[str], printed: float | None) -> Row:
    found = [mixing_time(model(name), WORDS) for name in names]
    times = [each.time for each in found if each.time is not None]
    row: Row = {"source": source, "T_mix": None, "interval": "> 512"}
    if len(times) == len(found):
        ends = np.array([each.interval for each in found], float)
        row["T_mix"] = float(np.mean(times))
        row["interval"] = f"{ends.min():.0f} to {ends.max():.0f}"
    capped = [each.cap_time(LENGTH) for each in found]
    row[f"at most {LENGTH}"] = float(np.mean([time for time, _ in capped]))
    row["cut"] = any(cut for _, cut in capped)
    return {**row, "printed": printed}


def _entropy(beliefs: FloatArray) -> float:
    logs = np.log(np.maximum(beliefs, 1e-300))
    return float(-(beliefs * logs).sum(axis=-1).mean())


def _floor(name: str, seed: int) -> float:
    source = model(name)
    words, _ = source.sample(WORDS, LENGTH, np.random.default_rng(seed))
    return _entropy(source.filter(words)[0])


def _floors() -> Table:
    rows: list[Row] = []
    for family, form in (
        ("RanHMM5,5", "RanHMM5,5@{}"),
        *(
            (f"Cyclic-RND5,5:ε={back}", f"Cyclic-RND5,5@{{}}:epsilon={back}")
            for back in PRINTED
        ),
    ):
        found = [
            _floor(form.format(seed), seed)
            for seed in range(20 if "Ran" in family else SEEDS)
        ]
        rows.append(
            {
                "source": family,
                "nats": float(np.mean(found)),
                "least": min(found),
                "most": max(found),
            }
        )
    each = linear_dynamics().losses(LENGTH)
    rows.append(
        {
            "source": "RanLDS5, squared error",
            "nats": float(each.mean()),
            "least": each[0],
            "most": each[-1],
        }
    )
    note = (
        f"Mean entropy of beliefs after 1 … {LENGTH} letters: cross entropy is no less."
    )
    return Table("Floors", rows, note)


def _known() -> Table:
    return Table("Structure", [_structure(name) for name in EVERY])


def _structure(name: str) -> Row:
    found = facts(model(name))
    seen = found["observability"]
    constant = found["depth_growth"][-2]
    return {
        "source": f"`{name}`",
        "is": ", ".join(found["properties"]) or "–",
        "beliefs": found["beliefs"],
        "forgets after": found["forgets_after"],
        "contraction": found["contraction"],
        "rank": found["rank"],
        "γ (steps)": f"{seen['gamma']:.3g} ({seen['steps']})" if seen else None,
        "constant depth": next(
            told for begin, told in DEPTHS.items() if begin in constant
        ),
    }


def _memory() -> Table:
    note = (
        "E‖Pr(next letter | all) − P_L‖₁ after 9 letters, all words listed. The bound is "
        f"γ⁻⁴ ln(d/ε) at ε = {TARGET}, without its constant. Zeros: eigenvalues of 0 of "
        "the covariance of 3 letters, which the third assumption forbids."
    )
    return Table("Memory", list(_lost()), note)


def _lost() -> Iterator[Row]:
    for name in ("RanHMM3,3@1", "RanHMM4,3@1", "RanHMM5,3@1", "Mess3", "EvenProcess"):
        source = model(name)
        errors = forgotten(source, 9, 6).letters
        seen, spread = gamma(observation_operator(source)), history_spread(source, 3)
        bound = stated_memory(seen, rank(source), TARGET) if seen > 1e-9 else None
        yield {
            "source": f"`{name}`",
            **{f"L = {i + 1}": float(e) for i, e in enumerate(errors)},
            "per letter": float((errors[-1] / errors[0]) ** (1 / 5))
            if errors[0]
            else None,
            "γ": seen if seen > 1e-9 else 0.0,
            "zeros": int((spread < 1e-12).sum()),
            "bound": bound,
        }


if __name__ == "__main__":
    main()
