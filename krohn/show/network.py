"""Printing results about networks: compiled models, answers, attention, verdicts."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from krohn.algebra.wording import LONGEST, count, cut, in_runs
from krohn.program.quoting import on_a_terminal
from krohn.program.wording import at_least, at_most
from krohn.show.tables import (
    Terminal,
    console,
    cut_short,
    new_table,
    print_attempts,
    print_table,
)

if TYPE_CHECKING:
    from krohn.compiled_model import CompiledModel
    from krohn.evidence import Checked
    from krohn.instruments.attack.campaign import Attack
    from krohn.program import Program
    from krohn.program.claim import Claim
    from krohn.replaying import Replay
    from krohn.report import Report
    from krohn.verify.testing.counterexample import Counterexample
    from krohn.verify.trusted import Rests

# Verdicts, with what they rest on; evidence; replays.


MOST_HEADS = 8
UNSAYABLE = "(not possible: a letter holds a character that no argument can hold)"


def report(
    file: str, found: "Report", replay: str | None = None, *, against: bool = False
) -> None:
    """A verdict, and a counterexample if there is one, with the way to see it again.

    Args:
        file: The model file.
        found: The verdict.
        replay: The command that shows a wrong word again.
        against: Whether somebody named the machine that it was held against.
    """
    out = console()
    name = found.about.name if against and found.about is not None else ""
    held = f" against {on_a_terminal(cut(name, 40))}" if name else ""
    how = ", ".join(filter(None, (found.method, f"{found.seconds:.2f} s")))
    out.print(f"{file}: {found.verdict}{held} ({how})")
    open_question = found.verdict in ("undecided", "out-of-range")
    if open_question:  # why comes first: all else is about what was asked
        _not_decided(out, found)
        _notes(out, found)
    if found.about is not None:
        about(out, found.about)
    if found.verdict == "verified":
        _verified(out, found)
    elif not open_question:
        out.print(f"  {found.reason}")
    if not open_question:
        _notes(out, found)
    _heads(out, found)
    if found.counterexample is not None:
        _counterexample(out, found.counterexample)
        if found.minimal is not None:
            out.print(f"  {found.minimal.summary}")
        out.print("Replay it:")
        out.print(f"  {replay or UNSAYABLE}")


def _not_decided(out: Terminal, found: "Report") -> None:
    """Print why nothing is decided, and what was tried."""
    out.print(f"  {_why_not(found)}")
    if found.attack is not None:
        out.print(f"  {found.attack.positions:,} positions were run")
    elif found.verdict == "undecided" and found.words:
        out.print(f"  {_run(found)}; no wrong one was found")


def _why_not(found: "Report") -> str:
    """The reason; of a proof that failed also how far it came in the network."""
    proof = found.proof
    if found.verdict != "undecided" or proof is None or proof.verdict == "verified":
        return found.reason
    shown = [step["sublayer"] for step in proof.evidence if "sublayer" in step]
    beyond = f" beyond {_place(shown[-1])}" if shown else ""
    return f"not proved{beyond}: {found.reason}"


def _place(sublayer: str) -> str:
    """A sublayer as evidence names it, in words."""
    kind, _, block = sublayer.partition(" ")
    kind = kind.replace("mlp", "MLP")
    return f"the {kind} of block {block}" if block else f"the {kind}"


def _notes(out: Terminal, found: "Report") -> None:
    for note in (*found.notes, *([found.digits] if found.digits else ())):
        out.print(f"  {note}")


def _verified(out: Terminal, found: "Report") -> None:
    out.print(f"  {found.covers}")
    if found.checked_by:
        out.print(f"  checked by {found.checked_by}")
    if found.words:
        out.print(f"  {_run(found)}")
    if found.attack is not None:
        _attack(out, found.attack)


def about(out: Terminal, claim: "Claim") -> None:
    """Print the subject of a proof."""
    for line in claim.lines():
        out.print(f"  {line}")


def _run(found: "Report") -> str:
    words = count(found.words, found.ran.removesuffix("s"))
    sentence = f"{words} {'was' if found.words == 1 else 'were'} run"
    if found.largest_error is None:
        return sentence
    return f"{sentence}, with errors of up to {at_most(found.largest_error)}"


def _heads(out: Terminal, found: "Report") -> None:
    """Print the limits of single heads: theorems about them, not about the network."""
    if found.heads and found.proof is not None:
        if found.verdict != "refuted":
            out.print(
                f"  theorems limit what {len(found.heads)} of its heads can do alone: "
                "--json (docs/proofs/limits.md)"
            )
        return
    if found.heads:
        out.print(
            "limits of single heads, by block and head, as block.head "
            "(docs/proofs/limits.md):"
        )
    for head in found.heads[:MOST_HEADS]:
        out.print(f"  {head.summary()}")
    if len(found.heads) > MOST_HEADS:
        out.print(f"  … and {len(found.heads) - MOST_HEADS} more; --json has all")


def _attack(out: Terminal, found: "Attack") -> None:
    """Print the number that came closest to each bound of a proof."""
    ways = f"{found.positions:,} positions were run in {len(found.ways)} ways"
    out.print(f"  {ways}; no number was beyond its bound")
    for way, why in found.left_out.items():
        out.print(f"  not run: {way} ({why})")
    table = new_table("bounds of", " numbers", " observed", " bound", " ratio", "by")
    for each, worst in sorted(found.tightest.items()):
        table.add_row(
            each,
            f"{found.numbers.get(each, 0):,}",
            f"{worst.observed:.3g}",
            (at_least if each == "margin" else at_most)(worst.bound),
            f"{1 / worst.share:.4g}" if worst.share else "never off",
            worst.way if worst.share else "",
        )
    print_table(table)


def evidence(found: "Checked", written: object = None) -> None:
    """Print the facts that the small checker found in evidence, and how long that took."""
    out = console()
    if found.verdict != "verified":
        out.print(f"not shown: {found.reason}")
        return
    if written is not None:
        size = f"{found.size / 1024:,.1f} KiB, found in {found.found_in:.2f} s"
        out.print(f"wrote {written}: evidence, {size}")
    facts = found.facts
    out.print(f"checked in {found.seconds:.2f} s: {found.proved}")
    if written is None:  # who wrote it was told already
        about(out, found.about)
    for what in ("noise", "leak"):
        if facts.get(what):
            name, bound = max(facts[what].items(), key=lambda item: item[1])
            out.print(f"  largest {what} {at_most(bound)}, of {on_a_terminal(name)}")
    if "margin" in facts:
        out.print(f"  margin of the read-out {at_least(facts['margin'])}")


def print_trusted_files(found: "Rests") -> None:
    """The files that a proof rests on; of Python also how many of their lines ran."""
    totals = found.to_object()
    beside = ", ".join([*found.beside, *found.libraries])
    ran = f"; {totals['ran']:,} ran" if totals["ran"] else ""
    console().print(
        f"The proof rests on {len(found.files):,} files, {totals['lines']:,} lines, "
        f"{totals['code']:,} of them code{ran}. Beside them: {beside}"
    )
    # What Coq has proved is a program that nobody watches while it runs.
    last = (" ran",) * bool(totals["ran"])
    table = new_table("file", " lines", " code", *last)
    for file in found.files:
        numbers = file.lines, file.code, *([file.ran] * len(last))
        table.add_row(file.file, *(f"{n:,}" for n in numbers))
    print_table(table, whole=True)


def _counterexample(out: Terminal, wrong: "Counterexample") -> None:
    """A word with what is right and what was said, a letter at a time."""
    from krohn.program.word_texts import write_letter

    for title in ("word", "expected", "actual"):
        write = write_letter if title == "word" else on_a_terminal
        names = list(map(write, getattr(wrong, title)))
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
    from krohn.program.word_texts import write_letter

    at, answer = found.position, on_a_terminal(found.actual)
    if found.agrees and state is None:
        print(f"agrees with the machine at each of {at} letters")
    elif found.agrees:
        print(f"says {answer} after {count(at, 'letter')}, as expected")
    else:
        where = (
            f"letter {at}, {write_letter(found.word[at - 1])}" if at else "the start"
        )
        reading = "" if found.reading == "at once" else f", read {found.reading}"
        right = on_a_terminal(found.expected)
        print(f"differs at {where}: expected {right}, actual {answer}{reading}")


# Compiled networks, their answers and their attention.


def print_compiled_network(
    result: dict[str, Any], model: "CompiledModel", what: str = ""
) -> None:
    """Print the sizes of a compiled network, what it computes, and its proof."""
    out = console()
    out.print(f"wrote {result['file']}: {result['construction']}")
    out.print(
        f"  depth {result['depth']}, {count(result['layers'], 'layer')}, width "
        f"{result['d_model']}, heads {result['heads']}, MLP {result['mlp_width']}, "
        f"{result['parameters']:,} parameters ({result['nonzero']:,} not zero), "
        f"{result['dtype']}{_why(result)}"
    )
    if "random" in result:
        masks = result["random"]
        out.print(
            f"  masks keep {masks['kept']:,} of {masks['weights']:,} random weights, "
            f"{masks['bytes'] / 10**6:.1f} MB "
            f"({masks['units']} units for each input, seed {masks['seed']})"
        )
    about(out, model.claim)
    if what:
        out.print(f"  what it is: {what}")
    cut_short(out, result)
    for warning in _warnings(result):
        out.print(f"  warning: {warning}")
    print_attempts(out, result["tried"], "  ")
    if model.proof is None or model.proof.proved is None:
        out.print(f"  for {model.claim.inputs}")
        out.print("  NOT proved, as you asked: nothing is known about this network yet")
    else:
        out.print(f"  proved in {model.proof.seconds:.2f} s: {model.proof.proved}")


def _warnings(result: dict[str, Any]) -> Iterator[str]:
    """Warnings about likely mistakes in the text of a source."""
    rules = result.get("rules_that_never_apply", [])
    for number, line in zip_longest(rules, result.get("lines_of_these_rules", [])):
        place = f"line {line}: " if line else ""
        yield (
            f"{place}rule {number} never applies: wherever it fits, another rule fits "
            "that ends sooner or stands before it"
        )
    whole, length = result.get("whole_texts", 0), result.get("length")
    if whole is None:
        yield (
            f"texts may have more than {length} tokens, or no end: no order was found by "
            "which lines get smaller"
        )
    elif length and whole > length:
        yield f"texts may have more than {length} tokens; {whole:,} are enough for all"
    for line in result.get("lines_that_define_no_cell", []):
        yield (
            f"line {line} defines no cell: earlier lines define all that it is about, or "
            "it is about none at this size"
        )


def _why(result: dict[str, Any]) -> str:
    """Why a number format was taken, if a narrower one was tried."""
    narrower = dict.fromkeys(row["dtype"] for row in result["tried"])
    names = [name for name in narrower if name not in (None, result["dtype"])]
    return f", because no network is proved in {' or '.join(names)}" if names else ""


def answers(result: dict[str, Any]) -> None:
    """Print the answers of a model after each letter; a generator also has a first one."""
    if "shown" in result:
        for line in result["shown"].split("\n"):
            print(line)
    elif "laws" in result:
        table = new_table("after", *(f" {letter}" for letter in result["letters"]))
        after = ["(start)", *result["word"]]
        for letter, law in zip(after, result["laws"], strict=True):
            table.add_row(letter, *(f"{p:.6g}" for p in law))
        print_table(table)
    else:
        print(" ".join(map(on_a_terminal, result["outputs"])))
    if "note" in result:
        print(result["note"])


def steps(told: list[dict[str, Any]]) -> Iterator[str]:
    """A text token by token: what each is called, and what it was computed from."""
    for step in told:
        reads = ", ".join(f"{name} {token}" for name, token in step["reads"].items())
        after = f"   of {reads}" if reads else ""
        yield f"{step['token']:>6}  {step['is']}{after}".rstrip()


def operation(done: Any) -> str:
    """An operation and what it reads."""
    from krohn.program import Map, Table

    kind = type(done).__name__
    if isinstance(done, Map):
        function = done.function
        kind = (
            type(function).__name__
            if not isinstance(function, Table)
            else f"Table{len(function.rows)}"
        )
    extra = f", {done.by}" if hasattr(done, "by") else ""
    return f"{kind}({', '.join(done.reads)}{extra})"


def program(name: str, written: "Program") -> None:
    """A Program after a pass, one channel a line, on standard error."""
    out = console(stderr=True)
    out.print(f"--- after {name}: {len(written.operations)} channels")
    for channel, each in written.operations.items():
        size = len(written.domains.get(channel, ()))
        suffix = " one-hot" if channel in written.one_hot else ""
        out.print(f"{channel} = {operation(each)}   [{size} values{suffix}]")
