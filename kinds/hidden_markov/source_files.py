"""Hidden Markov models from files: Krohn's JSON, plain arrays, Cassandra's ``.pomdp``.

And weighted automata: JSON, and OpenFst's text.

``docs/kinds/hidden_markov.md`` describes the formats. In Krohn's JSON and in ``.pomdp``
files the start is the law before the first step; in arrays, and in what pomegranate saved,
it is the law of the state that says the first letter.
"""

import json
from pathlib import Path
from typing import Any

from krohn.kinds.hidden_markov import (
    source_arrays as arrays,
    source_pomdp as pomdp,
    source_weighted as weighted,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program import strict_json
from krohn.program.errors import Refused, told_as
from krohn.program.files import read_bytes
from krohn.program.user_input import decode_utf8, read_text

SIGNS = (
    HiddenMarkovModel.kind,
    arrays.SAVED_CLASS,
    arrays.START,
    *arrays.OTHER_NAMES,
    weighted.MATRICES,
)
"""Other JSON is of machines, and need not be parsed twice."""


def read(path: Path) -> HiddenMarkovModel | None:
    """The model in a file; None if the file is of none of these formats.

    What stands behind a colon, ``counts.att:weights=log``, says how OpenFst's text is
    read.

    Raises:
        Refused: If it is, but is damaged, or states no probabilities.
        KrohnError: If it cannot be read.
    """
    if (fst := weighted.TEXT.fullmatch(str(path))) is not None:
        path = Path(fst["path"])
        with told_as(Refused, f"{path}: "):
            return weighted.of_text(
                read_text(path), path.name.split(".")[0], fst["weights"]
            )
    suffix = path.suffix.lower()
    reader = {".pomdp": _pomdp, ".npz": _npz, ".json": _json}.get(suffix)
    if reader is None or (suffix == ".json" and not path.is_file()):
        return None
    with told_as(Refused, f"{path}: "):
        return reader(path)


def text(model: HiddenMarkovModel) -> str:
    """A model as Krohn's JSON, which `read` gives back with the same numbers."""
    fields = model.to_wire()
    del fields["classes"]
    rows = {key: json.dumps(value, ensure_ascii=False) for key, value in fields.items()}
    return "{\n" + ",\n".join(f' "{key}": {row}' for key, row in rows.items()) + "\n}\n"


def _pomdp(path: Path) -> HiddenMarkovModel:
    return pomdp.parse(read_text(path), path.stem)


def _npz(path: Path) -> HiddenMarkovModel:
    return arrays.model(arrays.unpack_arrays(read_bytes(path)), path.stem)


def _json(path: Path) -> HiddenMarkovModel | None:
    content = decode_utf8(read_bytes(path), path)
    if not any(sign in content for sign in SIGNS):
        return None
    try:
        data = strict_json.read(content, finite=False)
    except ValueError:
        return None  # the reader of machines says what is wrong with it
    if not isinstance(data, dict):
        return None
    if data.get("kind") == HiddenMarkovModel.kind:
        return _read_own_json(data)
    if data.get("class") == arrays.SAVED_CLASS:
        return arrays.saved_model(data, path.stem)
    if weighted.KEYS <= set(data):
        return weighted.model(data, path.stem)
    return arrays.model(data, path.stem) if arrays.names(data) else None


def _read_own_json(said: dict[str, Any]) -> HiddenMarkovModel:
    """A model in Krohn's JSON, in which names may be numbers, and other keys are notes."""
    try:
        stated = {
            key: said[key] for key in HiddenMarkovModel.fields_by_key() if key in said
        }
        stated |= {key: list(map(str, said[key])) for key in ("states", "letters")}
        more = {"kind": said["kind"], "name": str(said["name"])}
        names = {"classes": stated["states"]}
        return HiddenMarkovModel.from_wire({**stated, **more, **names})
    except LookupError as error:
        raise Refused(f"it does not say its {error}") from None
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise Refused("its matrices, start or names are of another shape") from None
