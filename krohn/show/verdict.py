"""Verdicts, with what they rest on; evidence; replays."""

from typing import TYPE_CHECKING

from rich.console import Console

from krohn.algebra.wording import LONGEST, count, cut, in_runs
from krohn.program.wording import at_most
from krohn.show.tables import console, legibly, new_table, print_table

if TYPE_CHECKING:
    from krohn.evidence import Checked, Rests
    from krohn.program.claim import Claim
    from krohn.replaying import Replay
    from krohn.report import Report
    from krohn.verify.attack.campaign import Attack
    from krohn.verify.testing.counterexample import Counterexample


MOST_HEADS = 8
UNSAYABLE = "(not possible: a letter holds a character that no argument can hold)"


def report(file: str, found: "Report", replay: str | None = None) -> None:
    """A verdict, and a counterexample if there is one, with the way to see it again."""
    out = console()
    out.print(f"{file}: {found.verdict} ({found.method}, {found.seconds:.2f} s)")
    if found.about is not None:
        about(out, found.about)
    if found.verdict == "verified":
        out.print(f"  {found.covers}")
        if found.words:
            out.print(f"  {_run(found)}")
        if found.attack is not None:
            _attack(out, found.attack)
    else:
        out.print(f"  {found.reason}")
    if found.counterexample is not None:
        _counterexample(out, found.counterexample)
        if found.minimal is not None:
            out.print(f"  {found.minimal.summary}")
        out.print("Replay it:")
        out.print(f"  {replay or UNSAYABLE}")
    elif found.attack is not None and found.verdict != "verified":
        out.print(f"  {found.attack.positions:,} positions were run")
    elif found.verdict == "undecided" and found.words:
        out.print(f"  {_run(found)}; none was wrong")
    for note in found.notes:
        out.print(f"  {note}")
    _heads(out, found)


def about(out: Console, claim: "Claim") -> None:
    """What a proof is about."""
    for line in claim.lines():
        out.print(f"  {line}")


def _run(found: "Report") -> str:
    """How many words or inputs were run."""
    words = count(found.words, found.ran.removesuffix("s"))
    return f"{words} {'was' if found.words == 1 else 'were'} run"


def _heads(out: Console, found: "Report") -> None:
    """What the heads cannot do: theorems about them, not about the network."""
    if found.heads:
        out.print("limits of single heads (docs/independent.md):")
    for head in found.heads[:MOST_HEADS]:
        out.print(f"  {head.summary()}")
    if len(found.heads) > MOST_HEADS:
        out.print(f"  … and {len(found.heads) - MOST_HEADS} more; --json has all")


def _attack(out: Console, found: "Attack") -> None:
    """What came closest to each bound of a proof."""
    ways = f"{found.positions:,} positions were run in {len(found.ways)} ways"
    out.print(f"  {ways}; no number was beyond its bound")
    for way, why in found.left_out.items():
        out.print(f"  not run: {way} ({why})")
    table = new_table("bounds of", " numbers", " observed", " bound", " ratio", "by")
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
    out = console()
    if found.verdict != "verified":
        out.print(f"not shown: {found.reason}")
        return
    if written is not None:
        size = f"{found.size / 1024:,.1f} KiB, found in {found.found_in:.2f} s"
        out.print(f"wrote {written}: evidence, {size}")
    facts = found.facts
    words = f"{facts['covers']}, in {facts['dtype']}"
    within = f"within {at_most(facts['error'])} " if "error" in facts else ""
    out.print(f"checked in {found.seconds:.2f} s: right {within}on {words}")
    if written is None:  # who wrote it was told already
        about(out, found.about)
    for what in ("noise", "leak"):
        if facts.get(what):
            name, bound = max(facts[what].items(), key=lambda item: item[1])
            out.print(f"  largest {what} {bound:.2g}, of {legibly(name)}")
    if "margin" in facts:
        out.print(f"  margin of the read-out {facts['margin']:.3g}")
    if "law" in facts:
        out.print(f"  largest error of a probability {at_most(facts['law']['error'])}")


def trusted(found: "Rests") -> None:
    """The files that a proof rests on, with how many of their lines ran."""
    told = found.to_object()
    console().print(
        f"The proof rests on {len(found.files):,} files, {told['lines']:,} lines, "
        f"{told['code']:,} of them code; {told['ran']:,} ran. Beside them: Python, "
        "numpy, safetensors"
    )
    table = new_table("file", " lines", " code", " ran")
    for file in found.files:
        table.add_row(file.file, f"{file.lines:,}", f"{file.code:,}", f"{file.ran:,}")
    print_table(table, 80)


def _counterexample(out: Console, wrong: "Counterexample") -> None:
    """A word with what is right and what was said, a letter at a time."""
    for title in ("word", "expected", "actual"):
        names = list(map(legibly, getattr(wrong, title)))
        out.print(f"  {title:<9} {_along(names, title != 'word')}")


def _along(names: list[str], ends: bool) -> str:
    """Names in a row; of many their runs, cut where they begin if their end is told."""
    line = " ".join(names)
    if len(line) <= LONGEST:
        return line
    runs = in_runs(names)
    return cut(runs[::-1], LONGEST)[::-1] if ends else cut(runs, LONGEST)


def replay(found: "Replay", state: str | None) -> None:
    """Whether a model says of a word what the machine does, or a state at its end."""
    at, said = found.position, legibly(found.actual)
    if found.agrees and state is None:
        print(f"agrees with the machine at each of {at} letters")
    elif found.agrees:
        print(f"says {said} after {count(at, 'letter')}, as expected")
    else:
        where = f"letter {at}, {legibly(found.word[at - 1])}" if at else "the start"
        reading = "" if found.reading == "at once" else f", read {found.reading}"
        right = legibly(found.expected)
        print(f"differs at {where}: expected {right}, actual {said}{reading}")
