"""What is printed of the classes of a language."""

from collections.abc import Iterator
from typing import Any

SHOWN_LETTERS = 12

_LOCAL = {
    "strictly local": "strictly {k}-local",
    "locally testable": "locally {k}-testable",
    "locally threshold testable": "locally {k}-testable with counts up to {t}",
    "piecewise locally testable": "piecewise locally testable",
}
# A class and what is said when k, or k and t, are known.
_WITH_NUMBERS = {
    **_LOCAL,
    **{f"tier-based {name}": f"tier-based {text}" for name, text in _LOCAL.items()},
    "strictly piecewise": "strictly {k}-piecewise",
    "piecewise testable": "{k}-piecewise testable",
}


def lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people: what it is called, with witnesses, and what follows."""
    found = {p["name"]: p for p in facts["classes"]}
    yield f"As a language ({facts['of']}):"
    for says, holds in (("it is", True), ("it is not", False), ("not decided", None)):
        told = (p for name, p in found.items() if not _follows(name, found))
        names = [_named(p) for p in told if p["holds"] is holds]
        if names:
            yield f"  {says}: {', '.join(names)}"
    yield from (f"  {line}" for line in _witnesses(found, facts["alike"]))
    yield from (f"  for a network: {line}" for line in facts["network"])


def _named(found: dict[str, Any]) -> str:
    """The class with its numbers, if it holds and they are known."""
    numbers = found["witness"] or {}
    text = str(_WITH_NUMBERS.get(found["name"], found["name"]))
    wanted = {key for key in ("k", "t") if f"{{{key}}}" in text}
    if found["holds"] and wanted <= set(numbers):
        return text.format(**numbers)
    return str(found["name"])


def _follows(name: str, found: dict[str, dict[str, Any]]) -> bool:
    """Whether a smaller class, or the one without a tier, says the same already."""
    plain = name.removeprefix("tier-based ")
    tier = name[: len(name) - len(plain)]
    holds = found[name]["holds"]
    if tier and _named(found[plain]) == _named(found[name]).removeprefix(tier):
        return bool(found[plain]["holds"] is holds)
    smaller = found[f"{tier}locally testable"]["holds"]
    return plain == "locally threshold testable" and bool(smaller and holds)


def _witnesses(
    found: dict[str, dict[str, Any]], alike: tuple[tuple[str, ...], ...]
) -> Iterator[str]:
    names = "strictly local", "strictly piecewise", "tier-based strictly local"
    said = next((found[n] for n in names if n in found and found[n]["holds"]), None)
    forbidden = ((said or {}).get("witness") or {}).get("forbidden")
    if said is not None and forbidden:
        kind = "subsequences" if said["name"] == "strictly piecewise" else "factors"
        words = ", ".join(f"“{' '.join(word)}”" for word in forbidden)
        yield f"forbidden {kind}, shortest first: {words}"
    for letters in alike:
        yield f"letters that act alike: {' '.join(letters[:SHOWN_LETTERS])}" + (
            " …" if len(letters) > SHOWN_LETTERS else ""
        )
    crossing = found.get("strictly local", {})
    if crossing.get("holds") is False:
        yield _crossing(crossing["witness"])
    flip_flop = found["R∘G"]
    if flip_flop["holds"] is False:
        yield _flip_flop(flip_flop["witness"])


def _crossing(witness: dict[str, Any]) -> str:
    between = " ".join(witness["factor"])
    (u, v), (x, y) = witness["in"]
    words = [_around(u, between, v), _around(x, between, y), _around(u, between, y)]
    return (
        f"not strictly local for any k: for all n, {words[0]} and {words[1]} are "
        f"words of the language, and {words[2]} is not"
    )


def _around(begin: list[str], between: str, end: list[str]) -> str:
    return " ".join([*begin, f"({between})ⁿ", *end])


def _flip_flop(witness: dict[str, Any]) -> str:
    (p, q), (x, y) = witness["states"], witness["resets"]
    return (
        f"a flip-flop in it: “{' '.join(x)}” leads both {p} and {q} to {p}, "
        f"“{' '.join(y)}” leads both to {q}"
    )
