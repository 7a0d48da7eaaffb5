"""What the commands print for people."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from algebra.wording import count, cut
from krohn.show_language import lines as language_lines
from program import Map, Program
from program import Table as Rows

if TYPE_CHECKING:
    from krohn.comparison.result import Comparison
    from krohn.compiled_model import CompiledModel
    from krohn.evidence import Checked
    from krohn.replaying import Replay
    from krohn.report import Report
    from verify.attack.campaign import Attack
    from verify.testing.counterexample import Counterexample


SHOWN_STATES = 12
SHOWN_GROUPS = 8
SHOWN_VALUES = 8
SHOWN_CONTEXTS = 3
SHOWN_READS = 5
MOST_HEADS = 8
WIDE = 96
MOST_SAID = 38


def _console(**how: Any) -> Console:
    return Console(**{"soft_wrap": True, "highlight": False, "markup": False, **how})


def _print(table: Table, least: int = 0) -> None:
    """Print a table; where it has a least width, no cell is broken."""
    for column in table.columns:
        column.no_wrap = bool(least)
    out = _console(soft_wrap=False)
    out.width = max(out.width, least)
    out.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column.strip(), justify="right" if column[0] == " " else "left"
        )
    return table


def zoo(rows: list[dict[str, Any]]) -> None:
    """The machines known by name."""
    table = _table("name", " states", " letters", "what it is")
    for row in rows:
        table.add_row(
            row["name"], str(row["states"]), str(row["letters"]), row["description"]
        )
    _print(table)
    print(
        "Families by parameter: C12, C2xC3xC5, D10, S6, A6, Grid20, Dyck3,3 (depth, "
        "types), Memory5, PermReset3."
    )


def explanation(facts: dict[str, Any]) -> None:
    """What a machine is and what its constructions cost."""
    out = _console()
    out.print(
        f"{facts['name']}: {facts['states']} states ({facts['reachable']} reachable from "
        f"{facts['start']}, {facts['minimal']} after minimisation), "
        f"{facts['letters']} letters, outputs on {facts['outputs']}"
    )
    out.print(f"It is {facts['kind']}.")
    if facts["points"]:
        out.print(f"Its letters act faithfully on {facts['points']} points.")
    for line in _monoid(facts):
        out.print(line)
    out.print()
    for line in language_lines(facts["language"]):
        out.print(line)
    out.print("\nFor the depth of networks:")
    for line in facts["depth"]:
        out.print(f"  {line}")
    _networks(out, facts)
    refused: dict[str, list[str]] = {}
    for row in facts["unavailable"]:
        refused.setdefault(row["reason"], []).append(row["name"])
    for reason, names in refused.items():
        out.print(f"  not {', '.join(names)}: {reason}")
    chosen = f"Chosen: {facts['chosen']}" if facts["chosen"] else "No Transformer"
    out.print(f"\n{chosen}: {facts['why']}.")
    _cut_short(out, facts)
    width = facts["rnn_width"]
    out.print(f"As an RNN (--arch rnn): {width:,} ReLU units, valid at every length.")


def _networks(out: Console, facts: dict[str, Any]) -> None:
    """The Pareto front with the chosen network, and what else applies."""
    out.print(
        f"\nNetworks for words of up to {facts['length']} letters that no other beats in "
        "depth, width, parameters and latency:"
    )
    sizes = " depth", " layers", " width", " parameters", " µs"
    table = _table(" ", "name", *sizes, "how")
    for row in facts["front"]:
        chosen = "→" if row["chosen"] else ""
        table.add_row(chosen, row["name"], *_sizes(row), cut(row["summary"], MOST_SAID))
    shown = {row["name"] for row in facts["front"]}
    others = [row for row in facts["constructions"] if row["name"] not in shown]
    for row in others:
        least = "" if row["exact"] else "≥ "
        name = f"({row['name']})"
        table.add_row(
            "", name, *(least + s for s in _sizes(row)), cut(row["summary"], MOST_SAID)
        )
    _print(table, WIDE)
    if others:
        out.print(
            "In brackets: beaten in all of these; where it says ≥, known without laying "
            "it out."
        )


def _sizes(row: dict[str, Any]) -> list[str]:
    sizes = ("depth", "layers", "width", "parameters", "latency")
    return [f"{row[size]:,.0f}" for size in sizes]


def decomposition(facts: dict[str, Any]) -> None:
    """A cascade: its components by level, what they mean, and the proof."""
    out = _console()
    rows = [row for level in facts["levels"] for row in level]
    out.print(
        f"{facts['machine']}: {count(facts['states'], 'state')}, "
        f"{count(facts['letters'], 'letter')}, decomposed by {facts['method']} into "
        f"{count(len(rows), 'component')} on {count(len(facts['levels']), 'level')}"
    )
    if rows:
        out.print()
        _print(_components(facts["levels"]), WIDE)
        out.print("\nWhat the values leave of the states that are still possible:")
        for row in sorted(rows, key=lambda row: row["component"]):
            for line in _meaning(row, SHOWN_CONTEXTS if len(rows) <= 10 else 1):
                out.print(line)
    out.print()
    _proof(out, facts)


def _components(levels: list[list[dict[str, Any]]]) -> Table:
    columns = (" level", " no", "what it is", " values", "group", " order")
    table = _table(*columns, "reads", " nodes")
    for number, level in enumerate(levels, start=1):
        for row in level:
            table.add_row(
                *(str(number), str(row["component"]), cut(row["kind"], 32)),
                *(f"{row['states']:,}", cut(row["group"], 14), _short(row["order"])),
                *(_reads(row["reads"]), f"{row['nodes']:,}"),
            )
    return table


def _reads(numbers: list[int]) -> str:
    if len(numbers) > SHOWN_READS:
        return f"letter and {len(numbers)} components"
    return ", ".join(["letter", *map(str, numbers)])


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.1e}"


def _meaning(row: dict[str, Any], most: int) -> list[str]:
    """Lines on what the values of one component say."""
    meaning = row["meaning"]
    head = f"  {row['component']}: {row['kind']}"
    if not meaning["contexts"]:
        return [f"{head}; alone, its values rule out no state"]
    if meaning["same_everywhere"]:
        (reading,) = meaning["readings"]
        return [head, *_values(reading, "    ")]
    lines = [head]
    for reading in meaning["readings"][:most]:
        lines += [f"    given {_set(reading['possible'])}", *_values(reading, "      ")]
    hidden = meaning["contexts"] - len(meaning["readings"][:most])
    return [*lines, f"    … {count(hidden, 'more context')}"] if hidden else lines


def _values(reading: dict[str, Any], indent: str) -> list[str]:
    shown = list(reading["leaves"].items())[:SHOWN_VALUES]
    lines = [f"{indent}{value} → {_set(states)}" for value, states in shown]
    hidden = len(reading["leaves"]) - len(shown)
    return [*lines, f"{indent}… {count(hidden, 'more value')}"] if hidden else lines


def _set(states: list[str]) -> str:
    if not states:
        return "does not occur"
    shown = ", ".join(states[:SHOWN_STATES])
    if len(states) > SHOWN_STATES:
        shown += f", … ({len(states)} in all)"
    return f"{{{shown}}}"


def _proof(out: Console, facts: dict[str, Any]) -> None:
    out.print(
        f"Proved: from each of {count(facts['coordinates'], 'coordinate')} the cascade "
        f"follows the machine on words of every length ({facts['triples']:,} triples of "
        f"nodes checked)."
    )
    start = facts["start"]
    coordinates = ", ".join(map(str, start["coordinates"]))
    out.print(f"The start {start['state']} has the coordinates ({coordinates}).")
    for row in facts["tried"]:
        if "reason" in row:
            out.print(f"  {row['method']}: {row['reason']}")
        else:
            out.print(
                f"  {row['method']}: depth {row['depth']} as a network, "
                f"{count(row['values'], 'value')}, "
                f"{count(row['nodes'], 'node')} of wiring"
            )
    out.print(f"Chosen: {facts['why']}.")
    _cut_short(out, facts)


def _cut_short(out: Console, facts: dict[str, Any]) -> None:
    """What a search left out, and how to ask for more."""
    if not facts.get("cut_short"):
        return
    more = "no --effort finds more"
    if facts["effort"] is not None:
        more = f"--effort asks for more than {facts['effort']:,} steps of each search"
    out.print(f"Cut short: {'; '.join(facts['cut_short'])} ({more}).")


def _monoid(facts: dict[str, Any]) -> Iterator[str]:
    """The monoid, its groups and the machine's properties, a line each."""
    from algebra.classification.group_names import amount

    if facts["monoid_size"] is None:
        known = amount(facts["monoid_at_least"])
        yield f"Its words induce at least {known} transformations."
    else:
        size = amount(facts["semigroup_size"])
        yield f"Its words induce {size} transformations, the semigroup T(A)."
    if facts["groups"] is not None:
        yield f"Groups in T(A): {_groups(facts['groups'])}."
    for title, value in (("It is", True), ("It is not", False), ("Not decided", None)):
        names = [p["name"] for p in facts["properties"] if p["holds"] is value]
        if names:
            yield f"{title}: {', '.join(names)}."
    for found in facts["properties"]:
        if found["name"] in ("aperiodic", "solvable") and found["holds"] is False:
            yield f"Not {found['name']}: {_evidence(found)}."
        elif found["name"] == "synchronising" and found["holds"] and found["witness"]:
            yield f"All states are reset by {_word(found['witness']['word'])}."


def _groups(groups: list[dict[str, Any]]) -> str:
    kinds = dict.fromkeys(g["name"] for g in groups if g["order"] != 1)
    if not kinds:
        return "trivial ones only"
    names = list(kinds)
    shown = ", ".join(names[:SHOWN_GROUPS])
    more = len(names) - SHOWN_GROUPS
    return f"{shown}, and {more} more kinds" if more > 0 else shown


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
    shown = " ".join(letters[:SHOWN_STATES])
    longer = len(letters) > SHOWN_STATES
    return f"“{shown} … ({len(letters)} letters)”" if longer else f"“{shown}”"


def compiled(result: dict[str, Any], model: "CompiledModel") -> None:
    """What was compiled, and what was proved of it."""
    out = _console()
    bound = "words of every length"
    if result["length"] is not None:
        bound = f"words of up to {result['length']} letters"
    out.print(f"wrote {result['file']}: {result['construction']}, for {bound}")
    out.print(
        f"  depth {result['depth']}, {result['layers']} layers, width "
        f"{result['d_model']}, heads {result['heads']}, MLP {result['mlp_width']}, "
        f"{result['parameters']:,} parameters ({result['nonzero']:,} not zero), "
        f"{result['dtype']}"
    )
    _cut_short(out, result)
    if model.proof is None:
        out.print("  NOT proved, as you asked: nothing is known about it yet")
    else:
        claim = model.file.header["claim"]
        meaning = "right on every such word"
        if "tolerance" in claim:
            meaning = (
                "on every such legal prefix each output is within "
                f"{claim['tolerance']:.3g} of the law with q = {claim['opening']}"
            )
        out.print(f"  proved in {model.proof.seconds:.2f} s: {meaning}")


def report(file: str, found: "Report", replay: str | None = None) -> None:
    """A verdict, and a counterexample if there is one, with the way to see it again."""
    out = _console()
    out.print(f"{file}: {found.verdict} ({found.method}, {found.seconds:.2f} s)")
    if found.verdict == "verified":
        out.print(f"  {found.covers}")
        if found.words:
            out.print(f"  {found.words:,} words were run")
        if found.attack is not None:
            _attack(out, found.attack)
    else:
        out.print(f"  {found.reason}")
    if found.counterexample is not None:
        _counterexample(out, found.counterexample)
        if found.minimal is not None:
            out.print(f"  {found.minimal.said}")
        out.print("Replay it:")
        out.print(f"  {replay or 'a letter holds what no command line can hold'}")
    elif found.attack is not None and found.verdict != "verified":
        out.print(f"  {found.attack.positions:,} positions were run")
    elif found.verdict == "undecided" and found.words:
        out.print(f"  {found.words:,} words were run; none was wrong")
    for note in found.notes:
        out.print(f"  {note}")
    _heads(out, found)


def _heads(out: Console, found: "Report") -> None:
    """What the heads cannot do: theorems about them, not about the network."""
    if found.heads:
        out.print("heads (what each cannot do by itself, docs/independent.md):")
    for head in found.heads[:MOST_HEADS]:
        out.print(f"  {head.said()}")
    if len(found.heads) > MOST_HEADS:
        out.print(f"  … and {len(found.heads) - MOST_HEADS} more; --json has all")


def _attack(out: Console, found: "Attack") -> None:
    """What came closest to each bound of a proof."""
    ways = f"{found.positions:,} positions were run in {len(found.ways)} ways"
    out.print(f"  {ways}; no number was beyond its bound")
    for way, why in found.left_out.items():
        out.print(f"  not run: {way} ({why})")
    table = _table("bounds of", " numbers", " observed", " bound", " ratio", "by")
    for operation, worst in sorted(found.tightest.items()):
        table.add_row(
            operation,
            f"{found.numbers.get(operation, 0):,}",
            f"{worst.observed:.3g}",
            f"{worst.bound:.3g}",
            f"{1 / worst.share:.4g}" if worst.share else "never off",
            worst.way if worst.share else "",
        )
    out.print(table)


def evidence(found: "Checked", written: object = None) -> None:
    """What the small checker saw in evidence, and how long that took."""
    out = _console()
    if found.verdict != "verified":
        out.print(f"not shown: {found.reason}")
        return
    if written is not None:
        size = f"{found.size / 1024:,.1f} KiB, found in {found.found_in:.2f} s"
        out.print(f"wrote {written}: evidence, {size}")
    facts = found.facts
    words = f"{facts['covers']}, in {facts['dtype']}"
    out.print(f"checked in {found.seconds:.2f} s: right on {words}")
    for what in ("noise", "leak"):
        if facts.get(what):
            name, bound = max(facts[what].items(), key=lambda item: item[1])
            out.print(f"  largest {what} {bound:.2g}, of {legibly(name)}")
    if "margin" in facts:
        out.print(f"  margin of the read-out {facts['margin']:.3g}")
    if "law" in facts:
        out.print(f"  largest error of a probability {facts['law']['error']:.3g}")


def _counterexample(out: Console, wrong: "Counterexample") -> None:
    """A word with what is right and what was said, a letter at a time."""
    for title in ("word", "expected", "actual"):
        out.print(f"  {title:<9} {' '.join(map(legibly, getattr(wrong, title)))}")


def legibly(name: str) -> str:
    """A name quoted where it has blanks or what a terminal would obey."""
    plain = name.isprintable() and name and " " not in name
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def replay(found: "Replay", state: str | None) -> None:
    """Whether a model says of a word what the machine does, or a state at its end."""
    at, said = found.position, legibly(found.actual)
    if found.agrees and state is None:
        print(f"agrees with the machine at each of {at} letters")
    elif found.agrees:
        print(f"says {said} after {at} letters, as expected")
    else:
        where = f"letter {at}, {legibly(found.word[at - 1])}" if at else "the start"
        reading = "" if found.reading == "at once" else f", read {found.reading}"
        right = legibly(found.expected)
        print(f"differs at {where}: expected {right}, actual {said}{reading}")


def comparison(found: "Comparison", page: object = None) -> None:
    """A derived network beside trained ones."""
    from krohn.comparison.headline import headline
    from krohn.page.summary import summary

    out = _console()
    out.print(f"{legibly(found.name)}: {found.task}")
    for sentence in headline(found):
        out.print(f"  {sentence}")
    table = _table("measure", *(f" {legibly(c.title)}" for c in found.contestants))
    for row in summary(found):
        table.add_row(row.title, *(entry.main for entry in row.entries))
    out.print(table)
    for remark in found.origin.remarks:
        out.print(remark)
    if page is not None:
        out.print(f"The page: {page}")


def answers(result: dict[str, Any]) -> None:
    """What a model says after each letter; a generator also before the first."""
    if "laws" in result:
        table = _table("after", *(f" {letter}" for letter in result["letters"]))
        after = ["(start)", *result["word"]]
        for letter, law in zip(after, result["laws"], strict=True):
            table.add_row(letter, *(f"{p:.6g}" for p in law))
        _print(table)
        return
    print(" ".join(result["outputs"]))


def attention(result: dict[str, Any]) -> None:
    """Networks of one function, and how differently they attend."""
    out = _console()
    table = _table("network", "attention", " scale", " β", " on top", " variation")
    others = max(1, len(result["networks"]) - 1)
    for network, row in zip(result["networks"], result["variations"], strict=True):
        table.add_row(
            *(network["file"], network.get("attention", "stack-like")),
            *(f"{network[k]:.3g}" if k in network else "" for k in ("scale", "beta")),
            *(f"{network['weight on top']:.3f}", f"{sum(row) / others:.3g}"),
        )
    _print(table)
    out.print(f"On {' '.join(result['word'])}:")
    if result["mean variation"] is not None:
        out.print(
            f"  attention variation {result['mean variation']:.4g} in the mean of all "
            f"pairs; of random patterns {result['random baseline']:.4g}"
        )
    out.print(
        f"  on {result['words']} random prefixes of {result['length']} letters the laws "
        f"differ by at most {result['function error']:.2g}"
    )
    if "picture" in result:
        out.print(f"drew {result['picture']}")


def program(name: str, written: Program) -> None:
    """A Program after a pass, one channel a line, on standard error."""
    out = _console(stderr=True)
    out.print(f"--- after {name}: {len(written.operations)} channels", style="bold")
    for channel, operation in written.operations.items():
        size = len(written.domains.get(channel, ()))
        suffix = " one-hot" if channel in written.one_hot else ""
        out.print(f"{channel} = {_operation(operation)}   [{size} values{suffix}]")


def _operation(operation: Any) -> str:
    kind = type(operation).__name__
    if isinstance(operation, Map):
        function = operation.function
        kind = (
            type(function).__name__
            if not isinstance(function, Rows)
            else f"Table{len(function.rows)}"
        )
    extra = f", {operation.by}" if hasattr(operation, "by") else ""
    return f"{kind}({', '.join(operation.reads)}{extra})"
