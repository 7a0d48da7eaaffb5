"""How long commands take on long words and on large machines, and how fast networks read.

Each command is a process of its own with one thread: CPU seconds, and the most memory that
it held. Machines of a given size are random, from seed 0; of many letters, some act alike.
How fast networks read is measured beside torch, which reads the same letters in the same
process, and filters beside the exact one. With ``--long`` the longest words are measured as
well, which takes minutes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from report import Row, Table, parser, publish
from safetensors import safe_open

from krohn.algebra import formats
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton

if TYPE_CHECKING:
    from krohn.network.reading import Begin

LONG = (("Grid9", 2_048),)
WORDS = (("S5", 4_096), ("S5", 65_536), ("C2", 8_192), ("C2", 10_000), ("C2", 65_536))
SMALL = (("D8", 100), ("Q8", 100), ("S4", 100), ("PermReset4", 100))
WIDE = ((6, 64, 64), (6, 64, 4), (6, 4, 4), (55, 60, 60), (243, 2, 2))
"""States, letters, and how many ways to act these have."""
PATTERNS = (("regex:bcac(a)*|ba", 128), ("regex:(ab|ba)*", 512))
COUNTING, LONG_COUNTING = "regex:(ab)*c", "regex:(ab)*c(de)*f(gh)*i(jk)*"
READ = (("FlipFlop", 1_024), ("C2", 1_024), ("S5", 1_024), ("PermReset4", 100))
FORWARD = (
    ("FlipFlop", 64, 1),
    ("FlipFlop", 64, 64),
    ("C2", 64, 1),
    ("S5", 64, 1),
    ("S5", 64, 64),
    ("S5", 256, 1),
    ("S5", 1_024, 1),
)
"""Machines, letters, and how many words are read at once."""
TEXTS = ("LCS3,3", "EditDistance8,8:letters=4", "EditDistance20,20")
TOGETHER = 64
WARM = 10
"""Passes after which a network knows which of its heads copy."""
FILTERS = (
    ("examples/weather.json", 0.01),
    ("RanHMM4,3@0", 0.01),
    ("Mess3", 0.01),
    ("RRXOR", None),
    ("EvenProcess", None),
    ("GoldenMean", None),
)
FILTERED = 128
STORED = (("C2", 10_000), ("S5", 4_096), ("Grid9", 512), ("FlipFlop", 1_024))


def process(command: Sequence[str], given: TextIO | None = None) -> tuple[Row, str]:
    """What a process took, and what it printed; on one thread."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    running = subprocess.Popen(
        command,
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | one,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    text, refusal = running.stdout.read(), running.stderr.read()
    _, _, used = os.wait4(running.pid, 0)
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return {"CPU s": seconds, "MiB": memory}, (text or refusal).decode()


def measured(command: Sequence[str]) -> tuple[Row, dict[str, Any]]:
    """A row of what a command took, and the object that it printed."""
    took, text = process([sys.executable, "-m", "krohn", *command, "--json"])
    shown = " ".join(part for part in command if not part.startswith("/"))
    found = json.loads(text) if text.startswith("{") else {"refusal": text}
    return {"command": f"krohn {shown.removesuffix(' -o')}", **took}, found


def compiled(folder: Path, source: str, length: int, name: str = "") -> Row:
    """The row of a network that is compiled and proved."""
    out = str(folder / "network.safetensors")
    row, found = measured(["compile", source, "-T", str(length), "-o", out])
    row["command"] = f"krohn compile {name or source} -T {length}"
    if "parameters" not in found:
        return row | {"network": "refused: --arch rnn"}
    sizes = {n: found[n] for n in ("depth", "layers", "parameters")}
    return row | {"network": found["construction"]} | sizes


def explained(source: str, length: int) -> Row:
    """The row of an explanation; the network is the one that it calls chosen."""
    row, found = measured(["explain", source, "-T", str(length)])
    (chosen,) = [each for each in found["front"] if each["chosen"]]
    sizes = {n: chosen[n] for n in ("depth", "layers", "parameters")}
    return row | {"network": chosen["name"]} | sizes


def derived(folder: Path, source: str) -> Row:
    """The row of a counting program; instead of a network its verdict."""
    row, found = measured(["crasp", source, "-o", str(folder / "program.crasp")])
    return row | {"network": found["verdict"]}


def random_machine(folder: Path, states: int, letters: int, ways: int) -> str:
    """A file of a machine whose letters are some random functions, in turn."""
    rng = np.random.default_rng(0)
    moves = rng.integers(states, size=(ways, states))[np.arange(letters) % ways]
    names = (
        tuple(f"{kind}{i}" for i in range(n))
        for kind, n in (("a", letters), ("q", states))
    )
    alike = "" if ways == letters else f"-{ways}"
    path = folder / f"{states}x{letters}{alike}.json"
    formats.write(Automaton(Semiautomaton(moves, *names), 0, name=path.stem), path)
    return str(path)


def commands(folder: Path, long: bool) -> Iterator[Row]:
    """The rows of all commands."""
    for source, length in (*SMALL, *WORDS, *(LONG if long else ())):
        yield compiled(folder, source, length)
    for sizes in WIDE:
        path = random_machine(folder, *sizes)
        name = Path(path).name
        yield compiled(folder, path, 100, name)
        out = str(folder / "network.safetensors")
        row, found = measured(["compile", path, "--arch", "rnn", "-o", out])
        row["command"] = f"krohn compile {name} --arch rnn"
        yield row | {n: found[n] for n in ("layers", "parameters")}
    for source, length in PATTERNS:
        yield explained(source, length)
        yield compiled(folder, source, length)
    yield from started(folder)
    for source in (COUNTING, *((LONG_COUNTING,) if long else ())):
        yield derived(folder, source)


def started(folder: Path) -> Iterator[Row]:
    """The rows of commands that take no longer than what they import."""
    model, text = (str(folder / f"{name}.safetensors") for name in ("S3", "LCS2,2"))
    measured(["compile", "S3", "-T", "100", "-o", model])
    measured(["compile", "LCS2,2", "-o", text])
    for title, command in (
        ("krohn run S3 …", ["run", model, "213", "231"]),
        ("krohn run LCS2,2 …", ["run", text, "ab|ab"]),
        ("krohn draw S3", ["draw", "S3", "-o", str(folder / "s3.svg")]),
    ):
        row, _ = measured(command)
        yield row | {"command": title}
    for module in ("numpy", "torch"):
        row, _ = process([sys.executable, "-c", f"import {module}"])
        yield row | {"command": f"import {module}"}


def best(run: Callable[[], object]) -> float:
    """The CPU seconds of the quickest of three runs."""
    taken = []
    for _ in range(3):
        began = process_time()
        run()
        taken.append(process_time() - began)
    return min(taken)


def apart(title: str, sources: Sequence[str], length: int) -> Row:
    """How long it takes to plan and build networks, and to prove them."""
    import krohn
    from krohn.verify.proof import prove

    build, proof = 0.0, 0.0
    for source in sources:
        began = process_time()
        model = krohn.compile(source, length, proof=False)
        build, began = build + process_time() - began, process_time()
        verdict = prove(model.file, krohn.read(source)).verdict
        proof += process_time() - began
        if verdict != "verified":
            raise SystemExit(f"{source} is {verdict}")
    return {"machines": title, "T": length, "plan and build s": build, "proof s": proof}


def built(folder: Path) -> list[Row]:
    """The same of the zoo, of a scan, and of a random machine."""
    from krohn.algebra import zoo

    names = zoo.names()
    drawn = random_machine(folder, 20, 2, 2)
    apart("S5", ["S5"], 64)  # all is imported
    return [
        apart(f"{len(names)} of the zoo", names, 100),
        apart("S5", ["S5"], 256),
        apart("20 random states", [drawn], 64),
    ]


def one_by_one(begin: "Begin", words: IntArray) -> None:
    """Read words ``(batch, time)``, a letter at a time, on one thread."""
    from krohn.network.precision import one_thread

    reading = begin(len(words))
    with one_thread():
        for letters in words.T:
            reading.read(letters)


def speed(name: str, length: int) -> Row:
    """How many letters a network reads in a second: one by one, and a word at once."""
    # A process counts what its parent held, so torch comes after all commands.
    import krohn
    from krohn.network.model import Model
    from krohn.network.stepping import stepping
    from krohn.source_kinds.written_texts import reader

    file = krohn.compile(name, length, proof=False).file
    rng, letters = np.random.default_rng(0), len(krohn.zoo(name).letters)
    word, begin = rng.integers(letters, size=(1, length)), reader(file)
    by_torch = stepping(Model(file).network)
    return {
        "machine": name,
        "letters": length,
        "one by one, letters/s": length / best(lambda: one_by_one(begin, word)),
        "torch": length / best(lambda: one_by_one(by_torch, word)),
        "at once, letters/s": length / best(lambda: begin(1).read_on(word)),
    }


def forward(name: str, length: int, count: int) -> Row:
    """How long torch takes for whole words: a pass, without copies, and plain torch."""
    import torch
    from plain_torch import PlainTransformer

    import krohn
    from krohn.network.model import Model
    from krohn.verify.testing.sharded import keep_memory

    keep_memory()
    compiled = krohn.compile(name, length, proof=False)
    weighing = Model(compiled.file)
    plain = PlainTransformer(weighing)
    torch.set_num_threads(1)
    made = torch.Generator().manual_seed(0)
    words = torch.randint(len(weighing.letters), (count, length), generator=made)
    ways = compiled.network, weighing.network, plain.whole
    with torch.inference_mode():
        said = [way(words).argmax(-1) for way in ways for _ in range(WARM)]
        if not all(torch.equal(said[0], each) for each in said):
            raise SystemExit("two runtimes give two answers")
        ours, weighed, theirs = in_turn([partial(way, words) for way in ways])
    return {
        "machine": name,
        "letters": length,
        "words": count,
        "network(words), ms": 1000 * ours,
        "without copies": 1000 * weighed,
        "plain torch": 1000 * theirs,
        "times": theirs / ours,
        "times without copies": theirs / weighed,
    }


def in_turn(runs: Sequence[Callable[[], object]]) -> list[float]:
    """The CPU seconds of each, the least of nine turns of a tenth of a second."""
    taken = [best(run) for run in runs]
    for _ in range(9):
        for i, run in enumerate(runs):
            again, began = max(1, int(0.1 / taken[i])), process_time()
            for _ in range(again):
                run()
            taken[i] = min(taken[i], (process_time() - began) / again)
    return taken


def texts(name: str) -> Iterator[Row]:
    """How many tokens of texts are written in a second, alone and many at once.

    Beside `Model.write` a Transformer that is written plainly in torch writes the same.
    """
    import torch
    from plain_torch import PlainTransformer

    import krohn
    from krohn.kinds.dynamic_programs.commands import ChainsOfThought

    network = krohn.compile(name, proof=False).model
    source, plain = ChainsOfThought().of_file(network.file), PlainTransformer(network)
    torch.set_num_threads(1)
    low, high = np.array(source.prompt).T
    rng = np.random.default_rng(0)
    for count in (1, TOGETHER):
        prompts = rng.integers(low, high + 1, size=(count, len(low)))
        names = [[source.tokens[i] for i in prompt] for prompt in prompts]
        given, size = torch.from_numpy(prompts), source.length
        first = [source.tokens[i] for i in plain.write(given, size)[0, len(low) :]]
        if network.write(names)[0].tokens != first:
            raise SystemExit("two runtimes write two texts")
        ours = best(partial(network.write, names))
        theirs = best(partial(plain.write, given, size))
        yield {
            "source": name,
            "tokens of a text": size,
            "at once": count,
            "net.write, tokens/s": count * size / ours,
            "plain torch": count * size / theirs,
            "times": theirs / ours,
        }


def filtered(name: str, within: float | None) -> Iterator[Row]:
    """How many letters a network of beliefs reads in a second, beside numpy's filter."""
    import krohn
    from krohn.kinds.hidden_markov.commands import HiddenMarkovModels
    from krohn.source_kinds.real_outputs import outputs

    model = krohn.compile(name, FILTERED, within=within)
    source = HiddenMarkovModels().of_file(model.file)
    for count in (1, TOGETHER):
        words = source.sample(count, FILTERED, np.random.default_rng(0))[0]
        network = best(partial(outputs, model.file, words))
        exact = best(partial(source.filter, words))
        yield {
            "model": name,
            "network": model.construction,
            "words": count,
            "network, letters/s": count * FILTERED / network,
            "filter": count * FILTERED / exact,
            "times": exact / network,
        }


def stored(folder: Path, name: str, length: int) -> Row:
    """What a file of a network holds, and what a compact one does."""
    import krohn
    from krohn.network.architecture import is_index

    model, path = krohn.compile(name, length, proof=False), folder / "f.safetensors"
    model.save(path)
    whole = path.stat().st_size
    model.save(path, compact=True)
    with safe_open(path, "numpy") as file:
        told = json.loads(file.metadata()["krohn"])["stored"]
        numbers = [n for n in file.keys() if not is_index(n)]  # noqa: SIM118
        held = sum(file.get_tensor(n).size for n in numbers)
    columns = told.get("positions", {"columns": []})["columns"]
    return {
        "machine": name,
        "T": length,
        "parameters": model.summary()["parameters"],
        "of them positions": model.file.tensors["embed.position"].size,
        "stored numbers": held + sum(len(c) - 1 for c in columns if c),
        "KiB": whole / 1024,
        "compact KiB": path.stat().st_size / 1024,
    }


def main() -> None:
    """Measure and print the tables."""
    found = parser(__doc__)
    found.add_argument("--long", action="store_true", help="the longest words as well")
    options = found.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        tables = [
            Table("commands, one thread", list(commands(folder, options.long))),
            Table("planning and building, and proving", built(folder)),
            Table("letter by letter, one word", [speed(*case) for case in READ]),
            Table("forward", [forward(*case) for case in FORWARD]),
            Table("texts", [row for name in TEXTS for row in texts(name)]),
            Table("beliefs", [row for case in FILTERS for row in filtered(*case)]),
            Table("files", [stored(folder, *case) for case in STORED]),
        ]
    publish(tables, options)


if __name__ == "__main__":
    main()
