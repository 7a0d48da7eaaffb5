"""The digest of the claim that a proof is about.

Compiler, checker, commands and pages all make it by `digest_of`, from the header. A claim
holds the machine or other source with all its names, the longest word, the format, what
answers stand for, and the tokenizer of a GPT-2; no tensor, no Program and no evidence,
which are how a network does it (docs/model-format.md, "The claim and its digest").
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from krohn.program.architecture import architecture_named
from krohn.program.errors import demand
from krohn.program.strict_json import canonical


def digest_of(
    header: Mapping[str, Any], tokenizer: Mapping[str, Any] | None = None
) -> str:
    """The SHA-256 of the claim of a file, 64 hexadecimal digits.

    Args:
        header: Of the file: ``machine`` or ``source``, ``claim``, ``architecture``.
        tokenizer: The files of the tokenizer, by name, if the network reads texts by one.

    Raises:
        ValueError: If a number in it is not finite.
    """
    said = {key: header[key] for key in ("machine", "source") if key in header}
    said |= {"claim": header["claim"], "dtype": header["architecture"]["dtype"]}
    if tokenizer is not None:
        said["tokenizer"] = tokenizer
    said = {"format": "krohn-claim", "version": 1, **said}
    return hashlib.sha256(canonical(said).encode()).hexdigest()


def check_stated(header: Mapping[str, Any], right: str, stated: object) -> None:
    """Refuse a file that states another digest, or a claim with terms that nothing checks.

    Args:
        header: The header of the file.
        right: That of its claim.
        stated: The digest that it states; an older file states none, and gets its claim's.

    Raises:
        Refused: If it does. A term that nothing checks would be called verified unseen.
    """
    demand(
        stated == right,
        "the digest that the file states is not that of its claim",
    )
    others = sorted(header["claim"].keys() - _terms(header))
    demand(
        not others,
        f"the claim has {str(others[:3])[:80]}, which no such network is proved to meet",
    )


def _terms(header: Mapping[str, Any]) -> set[str]:
    """The terms that a claim may have: the check of its network reads each of them."""
    known, said = {"kind", "dtype", "length"}, header["claim"]
    if "source" not in header:
        own = architecture_named(header["architecture"].get("kind"))
        return {*known, "start", "shows", *own.terms}
    within = said.get("kind") == "within"
    source = header["source"]
    kind = str(source.get("kind")) if isinstance(source, Mapping) else ""
    blocks = kind.endswith("-in-blocks")
    more = (("error", "model_error"), within), (("letters",), blocks)
    return known.union(*(names for names, there in more if there))
