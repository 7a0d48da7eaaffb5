"""Parameters as hmmlearn and pomegranate hold them: arrays whose rows add up to 1.

The convention of the start: startprob is the law of the state that says the first letter,
as ``first`` of `HiddenMarkovModel.of`. Rows are laws: transmat[s, s'] is Pr(s' | s),
emissionprob[s, o] is Pr(o | s).
"""

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import LARGEST_MATRIX, FloatArray
from krohn.program.errors import Refused, demand
from krohn.program.known_files import recognise
from krohn.program.user_input import real_array

START, STEP, SAY = "startprob", "transmat", "emissionprob"
OTHER_NAMES = {"starts": START, "edges": STEP, "probs": SAY}
"""Their names in pomegranate; it holds logarithms of the first two."""
VECTORS = (
    "quantise the vectors first, for instance by KMeans(k).fit_predict(X)[:, None] of "
    "scikit-learn, and fit a CategoricalHMM to these numbers"
)
COUNTS = (
    "let all large counts be one letter, for instance by np.minimum(X, 20), and fit a "
    "CategoricalHMM to these"
)
EMISSIONS = {
    "means": ("vectors", VECTORS),
    "means_posterior": ("vectors", VECTORS),
    "covars": ("vectors", VECTORS),
    "covs": ("vectors", VECTORS),
    "scales": ("vectors", VECTORS),
    "lambdas": ("counts", COUNTS),
}
"""Parameters of emissions that are no letters: what is said, and what works instead."""
NAMING = ("states", "letters", "name", "ends")
"""What is read beside the laws."""
KEPT = 1e-5
"""Rows that add up to 1 but for so much are rounded, and are divided by their sum."""
MOST_NUMBERS = 2**22
"""Entries of all operators together."""
MOST_BYTES = 2**26
ZIP = b"PK"
"""How an archive of arrays begins."""


def names(said: Mapping[str, Any]) -> dict[str, str]:
    """Under which names these parameters are given; none if one is absent."""
    known = {}
    for name in said:
        plain = name.rstrip("_") if isinstance(name, str) else ""
        known[OTHER_NAMES.get(plain, plain)] = name
    return known if {START, STEP, SAY} <= set(known) else {}


def take_arrays(source: object) -> HiddenMarkovModel | None:
    """The model of arrays in a dict, or of a fitted object of hmmlearn; None of others.

    The first letter is said by a state of the law startprob, as in a file of the same
    arrays: all of these are one model.

    Raises:
        Refused: If an array is absent or none of probabilities, or the object says other
            things than one letter at a time.
    """
    if isinstance(source, Mapping):
        ours = names(source) or {START, f"{START}_"} & set(source)
        return model(source, "arrays") if ours else None
    keys = [f"{name}_" for name in (START, STEP, SAY)]
    parameters = {key: getattr(source, key, None) for key in keys}
    if isinstance(source, type) or parameters[keys[0]] is None:
        return None if isinstance(source, type) else _of_pomegranate(source)
    if parameters[keys[2]] is None:
        _check_letters(vars(source), type(source).__name__)
        raise Refused(
            f"it has no {keys[2]}; of hmmlearn's models, only those of letters are read"
        )
    trials = np.asarray(getattr(source, "n_trials", None) or 1)
    demand(
        trials == 1, "it emits several letters at once, and such models are not read"
    )
    return model(parameters, type(source).__name__)


def _check_letters(said: Iterable[object], name: str) -> None:
    """Refuse a model that says something else than letters, with what works.

    Raises:
        Refused: If one of these names is that of a parameter in `EMISSIONS`.
    """
    for key in map(str, said):
        if (plain := key.rstrip("_")) in EMISSIONS:
            what, instead = EMISSIONS[plain]
            raise Refused(f"{name} says {what} ({key}), and no letters: {instead}")


def _of_pomegranate(source: object) -> HiddenMarkovModel | None:
    """The model of a DenseHMM, all of whose distributions are of letters."""
    parameters = {
        key: getattr(source, key, None) for key in ("starts", "edges", "ends")
    }
    laws = getattr(source, "distributions", None)
    if not laws or parameters["starts"] is None or parameters["edges"] is None:
        return None
    for law in laws:
        kind = type(law).__name__
        _check_letters([k for k in EMISSIONS if hasattr(law, k)], kind)
        demand(kind == "Categorical", f"a state has a {kind}, which says no letters")
    parameters["probs"] = [np.asarray(law.probs).tolist() for law in laws]
    return model({k: v for k, v in parameters.items() if v is not None}, "arrays")


def unpack_arrays(data: bytes) -> dict[str, Any]:
    """The arrays of an ``.npz`` file.

    Raises:
        Refused: If it is none, or has objects in it, or unpacks to too much.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        demand(size <= MOST_BYTES, "its arrays are larger than 64 MiB")
        with np.load(BytesIO(data), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (Refused, MemoryError):
        raise
    except Exception:  # numpy and zipfile raise many kinds of it on damaged files
        reason = f": {recognise(data)}" if recognise(data) else ""
        if data.startswith(ZIP):
            reason = (
                "; it is damaged, or has objects in it, as letters of several types"
            )
        raise Refused(f"it is no .npz file of plain arrays{reason}") from None


def model(said: Mapping[str, Any], name: str) -> HiddenMarkovModel:
    """The model of such parameters.

    The first letter is said by a state of the law startprob, without a step before it.

    Args:
        said: The arrays by name. ``states`` and ``letters`` may name them; else they are
            0, 1, …, as arrays count. ``name`` may name the model.
        name: What it is called if that is not said.

    Raises:
        Refused: If one is absent, has another shape, or is no law.
    """
    known = names(said)
    if not known:
        _check_letters(said, "it")
        raise Refused(f"it needs the arrays {START}, {STEP} and {SAY}")
    start, step, say = (real_array(said[known[key]], key) for key in (START, STEP, SAY))
    say = say.reshape(say.shape[0], say.shape[2]) if _of_tensors(say) else say
    size = len(start) if start.ndim == 1 else 0
    demand(size > 0, f"{START} is no row of numbers")
    demand(size < LARGEST_MATRIX, f"there are {size} states, not 1 to 255")
    demand(step.shape == (size, size), f"{STEP} is no matrix of {size} states")
    fits = say.ndim == 2 and len(say) == size and say.shape[1] > 0
    demand(fits, f"{SAY} has no row for each of {size} states")
    few = say.shape[1] * (size + 1) ** 2 <= MOST_NUMBERS
    demand(few, f"{say.shape[1]} letters of {size} states are too many")
    ends = real_array(said["ends"], "ends") if "ends" in said else np.zeros(1)
    demand((ends == 0) | np.isneginf(ends), "it can end, and such models are not read")
    hmm = HiddenMarkovModel.of(
        str(said.get("name", name)),
        laws(step, STEP).T,
        laws(say, SAY).T,
        first=laws(start[None], START)[0],
        states=_read_names(said, "states", size),
        letters=_read_names(said, "letters", say.shape[1]),
    )
    read = {known[START], known[STEP], known[SAY], *NAMING}
    return replace(hmm, remark=_unread(said, read, hmm.name))


def _unread(said: Mapping[str, Any], read: set[str], name: str) -> str:
    """A remark that names the arrays that are not read."""
    others = ", ".join(str(key) for key in said if key not in read)
    return others and (
        f"{name}: {others} is not read; names of letters are `letters`, and names of "
        "states `states`"
    )


def laws(rows: FloatArray, what: str) -> FloatArray:
    """Rows as probabilities: not negative, and of sum 1.

    Raises:
        Refused: If a row is none; it is named, counted from 1.
    """
    demand(~np.isnan(rows), f"{what} has an entry that is no number")
    if (rows <= 0).all():  # logarithms; no law has these entries
        rows = np.exp(rows)
    demand(np.isfinite(rows), f"{what} has an entry that is no number")
    demand(rows >= 0, f"{what} has a negative entry")
    sums = rows.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    demand(
        abs(sums[worst] - 1) <= KEPT,
        f"row {worst + 1} of {what} adds up to {sums[worst]:.9g}, not to 1",
    )
    probabilities: FloatArray = rows / sums[:, None]
    return probabilities


def _of_tensors(say: FloatArray) -> bool:
    """Whether it is a stack of pomegranate's tensors, one of (1, letters) a state."""
    return say.ndim == 3 and say.shape[1] == 1


def _read_names(said: Mapping[str, Any], what: str, count: int) -> list[str]:
    if what not in said:
        return [str(i) for i in range(count)]
    given = said[what].tolist() if isinstance(said[what], np.ndarray) else said[what]
    fits = isinstance(given, list) and len(given) == count
    demand(fits, f"there are not {count} names of {what}")
    return [str(each) for each in given]


# Models as pomegranate before version 1 saved them: `to_json` of discrete emissions.


SAVED_CLASS = "HiddenMarkovModel"


def saved_model(said: Mapping[str, Any], name: str) -> HiddenMarkovModel:
    """The model of such an object: its states that say letters, and a start before them.

    Its silent start leads to the state that says the first letter: the law of that state is
    startprob of `model`.

    Raises:
        Refused: If it is damaged, may end, has other silent states than its start and its
            end, or says anything else than letters.
    """
    try:
        return model(_parameters(said), name)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        raise Refused("it is no model that pomegranate has saved") from None


def _parameters(said: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of its edges and distributions."""
    count, states = int(said["silent_index"]), said["states"]
    first, last = int(said["start_index"]), int(said["end_index"])
    demand(0 < count < LARGEST_MATRIX, "there are not 1 to 255 states that say letters")
    silent = set(range(count, len(states))) - {first, last}
    demand(not silent, "it has silent states, and such models are not read")
    start, step = np.zeros(count), np.zeros((count, count))
    for source, target, chance, *_ in said["edges"]:
        demand(min(source, target) >= 0, "an edge names a state that is not listed")
        if target == last:
            demand(chance == 0, "it can end, and such models are not read")
        elif source == first:
            start[target] = chance
        else:
            step[source, target] = chance
    said_laws = [_law(state["distribution"]) for state in states[:count]]
    letters = list(dict.fromkeys(letter for law in said_laws for letter in law))
    return {
        START: start,
        STEP: step,
        SAY: [[law.get(letter, 0.0) for letter in letters] for law in said_laws],
        "states": [state["name"] for state in states[:count]],
        "letters": letters,
    }


def _law(distribution: Mapping[str, Any]) -> dict[str, float]:
    """The probability of each letter."""
    kind = distribution["name"]
    instead = COUNTS if kind == "PoissonDistribution" else VECTORS
    reason = f"a state has a {kind}, which says no letters: {instead}"
    demand(kind == "DiscreteDistribution", reason)
    return {str(k): float(v) for k, v in distribution["parameters"][0].items()}
