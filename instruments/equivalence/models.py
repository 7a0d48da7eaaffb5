"""Whether two model files compute one function, and which tensors they have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.architectures.pruned.build_masks import is_random
from krohn.foreign import own_machine, source_name
from krohn.instruments.equivalence.claims import (
    check_alike,
    one_claim,
)
from krohn.instruments.equivalence.question import (
    Basis,
    Compared,
    compare_machines,
    notion_of,
)
from krohn.loading import file_of
from krohn.machines import MODEL
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Claim, Sense, Shows
from krohn.program.word_texts import join_letters
from krohn.running import shown_along
from krohn.verification import verify


@dataclass(frozen=True)
class Twins:
    """The result of comparing two networks.

    Attributes:
        left: The name of the first.
        right: The name of the second.
        about: What the proof of each is about.
        notion: What was compared: a key of `krohn.instruments.equivalence.question.SAID`.
        verdict: ``"verified"``: the same; ``"refuted"``: not; ``"undecided"`` if one of
            them is not proved.
        reason: Why it is undecided.
        length: The longest words that the verdict is about; None for every length.
        within: How far numbers or laws of the two may be apart; None if answers are the
            same.
        inputs: The inputs that the verdict is about, in words, where the claim of one
            file was proved of both; else empty.
        word: A shortest word after which they say different things.
        says: What each says then, as it was run.
        renamed: If they are one function up to names: which names of answers differ, in
            pairs. None if they are not.
        shared: The tensors that are equal byte by byte.
        others: How many tensors are in both and differ, or in one of them alone.
        matrices: The masked random matrices of which all tensors are shared.
        random: If both are masks of one random network.
    """

    left: str
    right: str
    about: tuple[Claim, Claim]
    notion: Basis
    verdict: str
    reason: str
    length: int | None
    within: float | None
    inputs: str
    word: tuple[str, ...] | None
    says: tuple[str, str] | None
    renamed: tuple[tuple[str, str], ...] | None
    shared: tuple[str, ...]
    others: int
    matrices: tuple[str, ...]
    random: bool

    def to_object(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        json_object = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in vars(self).items()
        }
        json_object["about"] = [claim.to_object() for claim in self.about]
        return {**json_object, "digests": [claim.digest for claim in self.about]}


def twins(
    left: object,
    right: object,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    up_to: str | None = None,
) -> Twins:
    """Decide whether two networks compute one function, and compare their tensors.

    Each is proved to compute the machine that its file states, for words up to some length
    or of every length. The machines are followed side by side, so that the networks are
    one function if these never show different things; else the first word on which they
    do is run through both. Machines that differ show whether they do so in names only.

    Of networks of laws, numbers or texts, the claim of one file is proved of the other
    network, too.

    Args:
        left: A model file, or what `krohn.compile` returns.
        right: Another one.
        up_to: What is compared: ``"accept"``, ``"outputs"``, or ``"names"``: answers up to
            a renaming. By default outputs if both show some, else states by their names.
        progress: Called with how many of the steps are done, and of how many.

    Raises:
        KrohnError: If a file cannot be read, the two are about different kinds of things,
            have other letters, or show nothing of what is to be compared.

    Examples:
        >>> scan = krohn.compile("C2", 8, construction="scan")
        >>> krohn.twins(krohn.compile("C2", 8), scan).verdict
        'verified'
    """
    files = [_file(source) for source in (left, right)]
    names = [_name_of(s, f) for s, f in zip((left, right), files, strict=True)]
    check_alike(files, names)
    laws = files[0].claim.sense is Sense.LAWS
    if laws or not files[0].claim.of_machine:
        if up_to is not None:
            raise KrohnError("--up-to is for networks that say states or outputs")
        return _compare_claims(files, names, laws, progress)
    machines = [own_machine(file) for file in files]
    notion = notion_of(machines[0], machines[1], up_to)
    comparison = compare_machines(machines[0], machines[1], notion)
    twins = _prove_twins(files, names, notion, progress)
    return twins if twins.reason else _conclude(files, machines, comparison, twins)


def _prove_twins(
    files: list[ModelFile],
    names: list[str],
    notion: Basis,
    progress: Callable[[int, int], None],
) -> Twins:
    """The result if nothing but the proofs of two networks speaks against it."""
    reason = ""
    for done, (name, file) in enumerate(zip(names, files, strict=True)):
        progress(done, 3)
        report = verify(file, proof=True)
        if report.verdict != "verified":
            reason = f"{name} is {report.verdict}: {report.reason}"
            break
    progress(2, 3)
    first, second = (file.claim for file in files)
    return Twins(
        left=names[0],
        right=names[1],
        about=(first, second),
        notion=notion,
        verdict="undecided" if reason else "verified",
        reason=reason,
        length=_common_length(files),
        within=None,
        inputs="",
        word=None,
        says=None,
        renamed=None,
        **_tensors(*files),
    )


def _compare_claims(
    files: list[ModelFile],
    names: list[str],
    laws: bool,
    progress: Callable[[int, int], None],
) -> Twins:
    """The result for two networks of laws, numbers or texts."""
    twins = _prove_twins(files, names, "claims", progress)
    if twins.reason:
        return twins
    claim = one_claim(files, names, laws)
    length = twins.length if claim.word is None else len(claim.word)
    return replace(twins, **vars(claim), length=length)


def _conclude(
    files: list[ModelFile], machines: list[Automaton], found: Compared, twins: Twins
) -> Twins:
    """The result for two networks that are proved to compute their machines."""
    most = twins.length
    if found.words is None or (most is not None and len(found.words[0]) > most):
        return replace(twins, renamed=found.renamed)
    both = zip(files, found.words, strict=True)
    ran = [_last_answer(file, word) for file, word in both]
    if tuple(ran) != found.says:  # arithmetic here is not as the proofs assume
        word = join_letters(found.words[0])
        why = (
            f"both networks were run, and after {word} they answer {' and '.join(ran)}"
        )
        return replace(twins, verdict="undecided", reason=why)
    alike = compare_machines(machines[0], machines[1], "names")
    only = alike.words is None or (most is not None and len(alike.words[0]) > most)
    return replace(
        twins,
        verdict="refuted",
        length=len(found.words[0]),
        word=found.words[0],
        says=found.says,
        renamed=alike.renamed if only else None,
    )


def _last_answer(file: ModelFile, word: Sequence[str]) -> str:
    """The last answer of a network to a word, or what its state shows if it does."""
    answers, own = Model(file).run(list(word)), own_machine(file)
    states = file.claim.shows is Shows.STATES
    if states and own.output is not None:
        answers = shown_along(own, own.encode(word), answers)
    return answers[-1]


def _file(source: object) -> ModelFile:
    if (file := file_of(source)) is not None:
        return file
    if isinstance(source, str | Path) and Path(source).suffix in MODEL:
        return modelfile.read(source)
    raise KrohnError(
        f"{source} is no model file; two networks are compared, or two programs or machines"
    )


def _name_of(source: object, file: ModelFile) -> str:
    return str(source) if isinstance(source, str | Path) else source_name(file.header)


def _common_length(files: list[ModelFile]) -> int | None:
    """The longest words that both files are about; None for every length."""
    lengths = [file.claim.length for file in files]
    return min((n for n in lengths if n is not None), default=None)


def _tensors(left: ModelFile, right: ModelFile) -> dict[str, Any]:
    """Which tensors two files have in common, byte by byte."""
    same_format = left.precision.name == right.precision.name
    mine, yours = left.tensors, right.tensors
    shared = tuple(
        name
        for name in sorted(mine.keys() & yours.keys())
        if same_format and _equal(mine[name], yours[name])
    )
    named = sorted(_factors(left).items() & _factors(right).items())
    whole = ({n for n in mine if n.rpartition(".")[0] == name} for name, _ in named)
    matrices = zip(named, whole, strict=True)
    return {
        "shared": shared,
        "others": len(mine.keys() | yours.keys()) - len(shared),
        "matrices": tuple(name for (name, _), each in matrices if each <= {*shared}),
        "random": _one_random(left, right),
    }


def _equal(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two tensors have the same bytes: 0 and −0 are told apart."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _factors(file: ModelFile) -> Mapping[str, tuple[int, int]]:
    """Rows and columns of each masked random matrix of a network; none if it has none."""
    shape: Any = file.architecture
    masked = getattr(shape, "masks", None) or getattr(shape, "random", None)
    return shape.sparse if masked else {}


def _one_random(left: ModelFile, right: ModelFile) -> bool:
    """Whether all weights of both are those of one random network."""
    if not _factors(left) or _factors(left) != _factors(right):
        return False
    shapes: list[Mapping[str, Any]] = [f.header["architecture"] for f in (left, right)]
    drawn = [((s.get("masks") or s["random"])["seed"], s["dtype"]) for s in shapes]
    return drawn[0] == drawn[1] and all(
        is_random(s, f.tensors) for s, f in zip(shapes, (left, right), strict=True)
    )
