"""What was compiled, what networks say, and what they attend to."""

from typing import TYPE_CHECKING, Any

from krohn.algebra.wording import count
from krohn.program import Map, Program
from krohn.program import Table as Rows
from krohn.program.wording import at_most
from krohn.show.tables import console, cut_short, new_table, print_table, tried
from krohn.show.verdict import about
from krohn.source_kinds import of_file

if TYPE_CHECKING:
    from krohn.compiled_model import CompiledModel


def compiled(result: dict[str, Any], model: "CompiledModel") -> None:
    """What was compiled, and what was proved of it."""
    out = console()
    bound, such = of_file(model.file).inputs(model.file)
    out.print(f"wrote {result['file']}: {result['construction']}, for {bound}")
    out.print(
        f"  depth {result['depth']}, {count(result['layers'], 'layer')}, width "
        f"{result['d_model']}, heads {result['heads']}, MLP {result['mlp_width']}, "
        f"{result['parameters']:,} parameters ({result['nonzero']:,} not zero), "
        f"{result['dtype']}{_why(result)}"
    )
    if "random" in result:
        told = result["random"]
        out.print(
            f"  masks keep {told['kept']:,} of {told['weights']:,} random weights "
            f"({told['units']} units for each input, seed {told['seed']})"
        )
    about(out, model.claim)
    cut_short(out, result)
    for number in result.get("rules_that_never_apply", []):
        out.print(
            f"  warning: rule {number} never applies: wherever it fits, another rule "
            "fits that ends sooner or stands before it"
        )
    tried(out, result["tried"], "  ")
    if model.proof is None:
        out.print("  NOT proved, as you asked: nothing is known about this network yet")
    else:
        meaning = _meaning(model.file.header["claim"], such)
        out.print(f"  proved in {model.proof.seconds:.2f} s: {meaning}")


def _why(result: dict[str, Any]) -> str:
    """Why a number format was taken, if a narrower one was tried."""
    narrower = dict.fromkeys(row["dtype"] for row in result["tried"])
    names = [name for name in narrower if name not in (None, result["dtype"])]
    return f", because no network is proved in {' or '.join(names)}" if names else ""


def _meaning(claim: dict[str, Any], such: str) -> str:
    """What a claim says of each of its inputs, which are called ``such``."""
    if "tolerance" in claim:
        return (
            "on every such legal prefix each output is within "
            f"{at_most(claim['tolerance'])} of the law with q = {claim['opening']}"
        )
    if "letters" in claim and claim.get("kind") != "within":
        return f"right states are written for words of {claim['letters']} letters"
    if claim.get("kind") == "generates":
        return "greedy decoding gives the right text after every prompt"
    if claim.get("kind") != "within":
        return "right on every such word"
    meaning = f"on every {such} within {at_most(claim['error'])} of the source"
    if "model_error" in claim:
        meaning += f" ({at_most(claim['model_error'])} without rounding)"
    return meaning


def answers(result: dict[str, Any]) -> None:
    """What a model says after each letter; a generator also before the first."""
    if "shown" in result:
        print(result["shown"])
    elif "laws" in result:
        table = new_table("after", *(f" {letter}" for letter in result["letters"]))
        after = ["(start)", *result["word"]]
        for letter, law in zip(after, result["laws"], strict=True):
            table.add_row(letter, *(f"{p:.6g}" for p in law))
        print_table(table)
    else:
        print(" ".join(result["outputs"]))
    if "note" in result:
        print(result["note"])


def steps(told: list[dict[str, Any]]) -> str:
    """A text token by token: what each is called, and what it was computed from."""
    lines = []
    for step in told:
        reads = ", ".join(f"{name} {token}" for name, token in step["reads"].items())
        after = f"   of {reads}" if reads else ""
        lines.append(f"{step['token']:>6}  {step['is']}{after}".rstrip())
    return "\n".join(lines)


def attention(result: dict[str, Any]) -> None:
    """Networks of one function, and how differently they attend."""
    out = console()
    table = new_table("network", "attention", " scale", " β", " on top", " variation")
    others = max(1, len(result["networks"]) - 1)
    for network, row in zip(result["networks"], result["variations"], strict=True):
        table.add_row(
            *(network["file"], network.get("attention", "stack-like")),
            *(f"{network[k]:.3g}" if k in network else "" for k in ("scale", "beta")),
            *(f"{network['weight on top']:.3f}", f"{sum(row) / others:.3g}"),
        )
    print_table(table)
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
    out = console(stderr=True)
    out.print(f"--- after {name}: {len(written.operations)} channels", style="bold")
    for channel, each in written.operations.items():
        size = len(written.domains.get(channel, ()))
        suffix = " one-hot" if channel in written.one_hot else ""
        out.print(f"{channel} = {operation(each)}   [{size} values{suffix}]")


def operation(done: Any) -> str:
    """An operation and what it reads."""
    kind = type(done).__name__
    if isinstance(done, Map):
        function = done.function
        kind = (
            type(function).__name__
            if not isinstance(function, Rows)
            else f"Table{len(function.rows)}"
        )
    extra = f", {done.by}" if hasattr(done, "by") else ""
    return f"{kind}({', '.join(done.reads)}{extra})"
