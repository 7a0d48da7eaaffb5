"""Printing explanations: a machine, the classes of its language, its networks' cost."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from krohn.algebra.wording import count, cut, listed
from krohn.program.word_texts import join_letters, write_letter
from krohn.show.tables import (
    Terminal,
    console,
    cut_short,
    new_table,
    print_attempts,
    print_table,
    several_lines,
)

# The classes of a language.


SHOWN_LETTERS = 12

_LOCAL = {
    "strictly local": "strictly {k}-local",
    "locally testable": "locally {k}-testable",
    "locally threshold testable": "locally {k}-testable with counts up to {t}",
    "piecewise locally testable": "piecewise locally testable",
}
# A class and what is said when k, or k and t, are known.
LANGUAGE_TITLES = ("in", True), ("not in", False), ("not decided", None)
TITLES = ("Properties", True), ("Not", False), ("Not decided", None)
"""What is said before the names of those that hold, that do not, and others."""
_WITH_NUMBERS = {
    **_LOCAL,
    **{f"tier-based {name}": f"tier-based {text}" for name, text in _LOCAL.items()},
    "strictly piecewise": "strictly {k}-piecewise",
    "piecewise testable": "{k}-piecewise testable",
}


def lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people: what it is called, with witnesses, and what follows."""
    classes = {p["name"]: p for p in facts["classes"]}
    yield f"As a language ({facts['of']}):"
    for says, holds in LANGUAGE_TITLES:
        not_implied = (p for name, p in classes.items() if not _follows(name, classes))
        names = [_class_name(p) for p in not_implied if p["holds"] is holds]
        if names:
            yield f"  {says}: {', '.join(names)}"
    yield from (f"  {line}" for line in _witnesses(classes, facts["alike"]))
    yield from (f"  for a network: {line}" for line in facts["network"])


def _class_name(found: dict[str, Any]) -> str:
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
    if tier and _class_name(found[plain]) == _class_name(found[name]).removeprefix(
        tier
    ):
        return bool(found[plain]["holds"] is holds)
    smaller = found[f"{tier}locally testable"]["holds"]
    return plain == "locally threshold testable" and bool(smaller and holds)


def _witnesses(
    found: dict[str, dict[str, Any]], alike: tuple[tuple[str, ...], ...]
) -> Iterator[str]:
    names = "strictly local", "strictly piecewise", "tier-based strictly local"
    local_class = next(
        (found[n] for n in names if n in found and found[n]["holds"]), None
    )
    forbidden = ((local_class or {}).get("witness") or {}).get("forbidden")
    if local_class is not None and forbidden:
        kind = (
            "subsequences" if local_class["name"] == "strictly piecewise" else "factors"
        )
        words = ", ".join(f"“{join_letters(word)}”" for word in forbidden)
        yield f"forbidden {kind}, shortest first: {words}"
    for letters in alike:
        shown = listed(map(write_letter, letters), SHOWN_LETTERS, between=" ")
        yield f"letters that act alike: {shown}"
    crossing = found.get("strictly local", {})
    if crossing.get("holds") is False:
        yield _crossing(crossing["witness"])
    flip_flop = found["R∘G"]
    if flip_flop["holds"] is False:
        yield _flip_flop(flip_flop["witness"])


def _crossing(witness: dict[str, Any]) -> str:
    between = join_letters(witness["factor"])
    (u, v), (x, y) = witness["in"]
    words = [_around(u, between, v), _around(x, between, y), _around(u, between, y)]
    return (
        f"not strictly local for any k: for all n, {words[0]} and {words[1]} are "
        f"words of the language, and {words[2]} is not"
    )


def _around(begin: list[str], between: str, end: list[str]) -> str:
    words = (join_letters(begin), f"({between})ⁿ", join_letters(end))
    return " ".join(filter(None, words))


def _flip_flop(witness: dict[str, Any]) -> str:
    (p, q), (x, y) = witness["states"], witness["resets"]
    return (
        f"a flip-flop in the machine: “{join_letters(x)}” leads both {p} and {q} to {p}, "
        f"“{join_letters(y)}” leads both to {q}"
    )


# The facts of a machine, and the cost of its networks.


SHOWN_STATES = 12
SHOWN_GROUPS = 8
MOST_SAID = 38
UNCOUNTED = UNKNOWN = "–"
UNTRIED = "The network was not proved here: `krohn compile` proves it, or says why not."


def zoo(rows: list[dict[str, Any]], families: list[dict[str, Any]]) -> None:
    """The machines known by name, and the families of other sources."""
    table = new_table("name", " states", " letters", "what it is")
    for row in rows:
        table.add_row(
            row["name"], str(row["states"]), str(row["letters"]), row["description"]
        )
    print_table(table)
    print(
        "Families by parameter: C12, C2xC3xC5, D10, S6, A6, Grid20, Dyck3,3 (depth, "
        "types), Memory5, PermReset3."
    )
    table = new_table("other sources", "kind", "what it is")
    for row in families:
        table.add_row(row["name"], row["kind"], row["description"])
    print_table(table)


def print_facts(found: dict[str, Any]) -> None:
    """Print the facts of a source."""
    if "constructions" in found:
        explanation(found)
    else:
        facts(found)


CLAIMS = {
    "exact": "Its network gives the right answer at every position.",
    "within": "Its network is right within an error, which is proved.",
    "generates": "Its network writes the right text, token by token.",
}
"""What is claimed of a network, by its kind of claim."""
FORMS = "state space models that compute the machine."
LONGEST_FACT = 30
"""Longer facts, and lists of sentences, stand below the table."""


def facts(found: dict[str, Any]) -> None:
    """Print the facts of a source that is no machine, with what they mean."""
    from krohn.schemas.machines import Forms
    from krohn.schemas.making import meanings_of
    from krohn.schemas.parts import Searched
    from krohn.source_kinds import KINDS

    out, kind = console(), KINDS.get(found.get("kind", ""))
    meanings = kind.meanings() if kind else meanings_of(Searched, Forms)
    about = f"{kind.called}. {CLAIMS[found['claim']]}" if kind else FORMS
    out.print([f"{found['name']}: {about}", *_about(found), ""])
    tables = [n for n in ("units", "networks", "recurrent") if _rows(found, n)]
    left_out = {*tables, "name", "kind", "claim", "tried", "proved", "remark"}
    table, below = new_table("fact", "value", "meaning"), list[str]()
    for name, fact in found.items():
        if name in left_out:
            continue
        text, meaning = _fact_text(fact), _meaning(meanings.get(name, ""), fact)
        if len(text) > LONGEST_FACT:
            below.append(f"{_label(name)}: {meaning}\n{text}".replace("\n", "\n  "))
        else:
            table.add_row(_label(name), several_lines(text), meaning)
    print_table(table)
    for paragraph in below:
        out.print()
        out.print(several_lines(paragraph))
    print_attempts(out, found.get("tried", []))
    for name in tables:
        _print_rows(found[name], meanings.get(name, ""))
    if "proved" in found:
        out.print(UNTRIED)


def _about(found: dict[str, Any]) -> Iterator[str]:
    """What a source is, where the facts are of a name that says it, and its text."""
    if what := getattr(found, "what", ""):
        yield f"What it is: {what}."
    if text := getattr(found, "text", ""):
        yield from ("Its program:", *(f"  {line}" for line in text.splitlines()))


def _meaning(text: str, fact: Any) -> str:
    """What a fact means; what a value that is not known means only where it is not."""
    if fact is None:
        return text.replace("null", UNKNOWN)
    return re.sub(r"; (null|empty) [^.]*", "", text)


def _print_rows(rows: list[dict[str, Any]], title: str) -> None:
    """Print facts that are objects with the same keys as a table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = new_table(*map(_label, columns))
    for row in rows:
        table.add_row(*(several_lines(_fact_text(row.get(k))) for k in columns))
    console().print(["", title])
    print_table(table, whole=True)


def _rows(found: dict[str, Any], name: str) -> bool:
    fact = found.get(name)
    return isinstance(fact, list) and bool(fact) and isinstance(fact[0], dict)


LABELS = {
    "d_model": "width",
    "mlp_width": "MLP width",
    "rnn_width": "RNN width",
    "rnn_error": "RNN error",
    "rnn_of": "states of the RNN are",
    "contexts": "contexts told apart",
    "beliefs": "reachable beliefs",
    "forgets_after": "forgets after letters",
    "text_bits": "bits of a text",
    "of_prompts": "prompts run",
    "one_text": "prompts of one text",
    "least": "least number",
    "largest": "largest number",
    "reads": "reads in a step",
    "meeting_flops": "pair flops",
    "l1": "ℓ1",
    "l2": "ℓ2",
    "hinf": "H∞",
    "hankel": "Hankel σ",
    "c0": "C0",
    "c1": "C1",
    "c2": "C2",
    "without_bound": "trivial bound",
    "bound_as_printed": "bound as the paper has it",
}
"""The names of facts in tables, where the key of ``--json`` is not one."""


def _label(key: str) -> str:
    if key.startswith("m_h"):
        return key
    label = LABELS.get(key, key.replace("_", " "))
    return label.replace("c rnn", "C_RNN")


def _fact_text(fact: Any) -> str:
    """A fact as people read it: sentences a line each, other lists on one line."""
    if fact is None:
        return UNKNOWN
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if type(fact) is int:
        return f"{fact:,}"
    if isinstance(fact, float):
        return f"{fact:.6g}"
    if isinstance(fact, dict):
        for keys, sentence in SENTENCES.items():
            if keys <= fact.keys():
                return sentence(fact)
        parts = (f"{_label(key)} {_fact_text(each)}" for key, each in fact.items())
        return "; ".join(parts)
    if isinstance(fact, list):
        sentences = any(" " in str(each) for each in fact)
        return ("\n" if sentences else ", ").join(map(_fact_text, fact)) or "–"
    return str(fact)


def _mixing(found: dict[str, Any]) -> str:
    """An estimated mixing time, with what it is estimated from."""
    letters, longest = found["letters"], found["looked_at"]
    estimate = f"more than {longest}" if letters is None else f"about {letters}"
    ends = (f"more than {longest}" if n is None else str(n) for n in found["interval"])
    return (
        f"{estimate} (95 % confidence: {' to '.join(ends)}), from "
        f"{count(found['samples'], 'random word')} of up to {count(longest, 'letter')}"
    )


def _observed(found: dict[str, Any]) -> str:
    """The least distance of laws of the next letters."""
    return f"γ = {found['gamma']:.6g}, of {count(found['steps'], 'letter')}"


SENTENCES: dict[frozenset[str], Callable[[dict[str, Any]], str]] = {
    frozenset({"interval", "looked_at", "samples"}): _mixing,
    frozenset({"gamma", "steps"}): _observed,
}
"""Facts of several numbers that a sentence says, by their keys."""


def explanation(facts: dict[str, Any]) -> None:
    """Print the facts of a machine and the costs of its constructions."""
    out = console()
    out.print(
        f"{facts['name']}: {count(facts['states'], 'state')} ({facts['reachable']} "
        f"reachable from {facts['start']}, {facts['minimal']} after minimisation), "
        f"{count(facts['letters'], 'letter')}, outputs on {facts['outputs']}"
    )
    out.print([*_about(facts), f"Kind: {facts['kind']}."])
    if facts["points"]:
        out.print(
            f"The machine states how its letters move {facts['points']} points: where a "
            "word takes the points decides where the word leads every state."
        )
    for line in _monoid(facts):
        out.print(line)
    out.print()
    for line in lines(facts["language"]):
        out.print(line)
    out.print()
    some = facts["reachable"] < facts["states"]
    only = f", which need what {facts['start']} reaches only" if some else ""
    out.print(f"For the depth of networks{only}:")
    for line in facts["depth"]:
        out.print(f"  {line}")
    _networks(out, facts)
    for line in _refused(facts):
        out.print(line)
    out.print()
    print_attempts(out, facts["tried"])
    out.print(f"{_choice(facts)}: {facts['why']}.{_proof_sentence(facts)}")
    if facts["also"]:
        out.print(
            f"Also, not proved here: {'; '.join(map(_alternative, facts['also']))}."
        )
    for line in _work(facts):
        out.print(line)
    cut_short(out, facts)
    width = facts["rnn_width"]
    if width:
        out.print(
            f"As an RNN (--arch rnn): {count(width, 'ReLU unit')}, valid at every length."
        )
    out.print(
        "docs/start/explain.md explains this output, docs/glossary.md and "
        "docs/classes.md the words used here, docs/proofs.md the theorems."
    )


def _networks(out: Terminal, facts: dict[str, Any]) -> None:
    """The Pareto front with the chosen network, and what else applies."""
    out.print()
    out.print(
        f"Pareto-optimal networks for words of up to {facts['length']} letters (depth, "
        "widest layer, parameters and predicted latency of one word; → chosen, ✗ tried "
        "and not proved, – not built and not counted):"
    )
    sizes = " depth", " layers", " widest", " parameters", " not zero", " µs"
    table = new_table(" ", "name", *sizes, "how")
    for row in facts["front"]:
        mark = "→" if row["chosen"] else "✗" if row["proved"] is False else ""
        table.add_row(mark, row["name"], *_sizes(row), cut(row["summary"], MOST_SAID))
    shown = {row["name"] for row in facts["front"]}
    others = [row for row in facts["constructions"] if row["name"] not in shown]
    for row in others:
        least = "" if row["exact"] else "≥ "
        name = f"({row['name']})"
        cells = (least * (s != UNCOUNTED) + s for s in _sizes(row))
        table.add_row("", name, *cells, cut(row["summary"], MOST_SAID))
    print_table(table, whole=True)
    if shown or others:
        out.print(
            "--construction NAME alone builds the network of that name of least depth, "
            "then of fewest layers; with --minimise the one of that name that is least in "
            "a size. These have no row where another row is at least as good in all four "
            "sizes."
        )
    if others:
        out.print(
            "In brackets: not Pareto-optimal, because a row above is at least as good in "
            "all four sizes. ≥: a lower bound; the network was not built, which "
            "--construction NAME tries."
        )


def _refused(facts: dict[str, Any]) -> Iterator[str]:
    """The constructions that do not serve, those of one reason on one line."""
    refused: dict[str, list[str]] = {}
    for row in facts["unavailable"]:
        refused.setdefault(row["reason"], []).append(row["name"])
    if refused:
        yield "Constructions that do not apply, and why:"
    for reason, names in refused.items():
        yield f"  {', '.join(names)}: {_without_subject(reason, facts['name'])}"


def _without_subject(reason: str, name: str) -> str:
    """Why a construction does not serve a machine, where both are named already.

    A sentence begins with what the machine is not, and goes on with why, or it says of the
    machine by name what it has.
    """
    begin, colon, why = reason.partition(": ")
    if colon and re.match(rf"{re.escape(name)} is (no|not) ", begin):
        return why
    if reason.startswith(f"{name} "):
        return f"it {reason.removeprefix(name).lstrip()}"
    return re.sub(rf" of {re.escape(name)}(?![\w@,])", "", reason)


def _choice(facts: dict[str, Any]) -> str:
    if not facts["chosen"]:
        return "No Transformer"
    return f"{'Chosen' if facts['proved'] else 'First to be tried'}: {facts['chosen']}"


def _alternative(row: dict[str, Any]) -> str:
    """A network that another choice gives, by the size that this goes by."""
    by = row["minimise"]
    depth, parameters = f"depth {row['depth']}", f"{row['parameters']:,} parameters"
    shown = {
        "depth": f"{depth} with {parameters}",
        "widest": f"a widest layer of {row['widest']:,} with {depth}",
        "parameters": f"{parameters} with {depth}",
        "latency": f"{_predicted(row['latency'])} µs with {depth}",
    }
    return f"{shown[by]} by --minimise {by} ({row['name']})"


def _proof_sentence(facts: dict[str, Any]) -> str:
    if not facts["chosen"]:
        return ""
    return " It is proved." if facts["proved"] else f" {UNTRIED}"


def _work(facts: dict[str, Any]) -> Iterator[str]:
    """The work of a proof of the chosen network, and of a search, in one unit."""
    from krohn.compiler.cost import proof_steps

    most = "any number" if facts["effort"] is None else f"up to {facts['effort']:,}"
    for row in facts["front"]:
        if row["chosen"]:
            heads = row["depth"] * row["heads"]
            steps = proof_steps(row["parameters"], heads, facts["length"])
            yield (
                f"Work: a proof takes about {steps:,.0f} steps; each search may take "
                f"{most} (--effort). A step is some microseconds."
            )


def _sizes(row: dict[str, Any]) -> list[str]:
    sizes = ("depth", "layers", "widest", "parameters", "nonzero")
    values = [row.get(size) for size in sizes]
    counts = [UNCOUNTED if size is None else f"{size:,.0f}" for size in values]
    latency = row.get("latency")
    return [*counts, UNCOUNTED if latency is None else _predicted(latency)]


def _predicted(microseconds: float) -> str:
    """A latency in two digits: it is predicted (docs/constructions.md)."""
    return f"{float(f'{microseconds:.2g}'):,.0f}"


def _monoid(facts: dict[str, Any]) -> Iterator[str]:
    """The monoid, its groups and the machine's properties, a line each."""
    from krohn.algebra.classification.findings import amount

    some = facts["reachable"] < facts["states"]
    states = f"all {facts['states']} states" if some else "the states"
    if facts["monoid_size"] is None:
        known = amount(facts["monoid_at_least"])
        yield f"The words induce at least {known} transformations of {states}."
    else:
        size = amount(facts["semigroup_size"])
        yield (
            f"The words induce {size} transformation{'s' * (size != '1')} of {states}: the "
            "semigroup T(A)."
        )
    if facts["groups"] is not None:
        yield f"Groups in T(A): {_groups(facts['groups'])}."
    for title, value in TITLES:
        names = [p["name"] for p in facts["properties"] if p["holds"] is value]
        if names:
            yield f"{title}: {', '.join(names)}."
    for fact in facts["properties"]:
        if fact["name"] in ("aperiodic", "solvable") and fact["holds"] is False:
            yield f"Not {fact['name']}: {_evidence(fact)}."
        elif fact["name"] == "synchronising" and fact["holds"] and fact["witness"]:
            yield (
                f"Synchronising: {_word(fact['witness']['word'])} leads all states "
                "to one."
            )


def _groups(groups: list[dict[str, Any]]) -> str:
    kinds = dict.fromkeys(g["name"] for g in groups if g["order"] != 1)
    if not kinds:
        return "trivial ones only"
    names = list(kinds)
    return listed(names, SHOWN_GROUPS)


def _evidence(found: dict[str, Any]) -> str:
    witness = found["witness"]
    if "words" in witness:
        words = " and ".join(_word(word) for word in witness["words"][:2])
        if len(witness["words"]) > 2:
            others = len(witness["words"]) - 2
            words = f"{words}, with {others} more, generate a group that contains"
        else:
            words = f"{words} generate"
        of_order = witness["group"].startswith("order")
        group = (
            f"a perfect group of {witness['group']}" if of_order else witness["group"]
        )
        return f"{words} {group}"
    states = " → ".join([*witness["states"], witness["states"][0]][: SHOWN_STATES + 1])
    return f"{_word(witness['word'])} leads {states}"


def _word(letters: list[str]) -> str:
    if not letters:
        return "the empty word"
    shown = join_letters(letters[:SHOWN_STATES])
    longer = len(letters) > SHOWN_STATES
    return f"“{shown} … ({len(letters)} letters)”" if longer else f"“{shown}”"
