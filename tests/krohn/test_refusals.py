"""What commands cannot do is refused in one line, which says why; nothing is written."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
REFUSED = {
    "compile C2 --arch rnn -o F": """
        -T 5 :: -T
        --strict :: --strict
        --uniform :: --uniform
        --activation sine :: --activation
        --minimise widest :: --minimise
        --minimise depth :: --minimise
        --positions circle :: --positions
        --effort high :: --effort
        --passes :: --passes
        --seed 1 :: --seed
    """,
    "compile Dyck2,2 -T 20 --construction balanced -o F": """
        --attention sharp :: --attention takes random, symmetric, uniform
        --depth-layer x :: --depth-layer takes given, attended, one-hot, angle
        --opening often :: no probability
        --opening 1/0 :: no probability
        --opening 2 :: between 0 and 1
        --scale nan :: --scale takes a number
        --seed -1 :: --seed takes a number
        --strict :: takes none of
        --arch rnn :: takes none of
        --construction scan --seed 1 :: --seed is for
    """,
    "run LEARNER": """
        '1 2 4 | 1 2' :: no letter '4'
        '1 2 | 1 2' :: demonstration 1 has 2 letters; each has 3
        '1 2' :: 0 demonstrations
        '1 2 3 |' :: the test history, which comes last, has 0 letters
        '1 2 3 | 1 2 3 | 1 2 3 | 1 2 3 | 1 2 3 | 1 2 3 | 1 2' :: 6 demonstrations
    """,
    "run Arithmetic3,11": """
        '4/(3-3)' :: divides by zero: 4 / 0
        4+ :: nothing can be evaluated in 4 +
        '4^2' :: '^' is not a letter (letter 2)
        1+1+1+1+1+1+1 :: has 1 to 11 letters, not 13
        '' :: has 1 to 11 letters, not 0
    """,
    "verify MODEL": """
        --error 1/8 :: --error needs --gadgets
        --html-effort 3 :: --html-effort needs --html
        --timeout 3 :: --timeout is for questions to z3
        --smt-lib q :: --smt-lib needs --smt N
        --proof --seed 3 :: --seed is of samples
        --smt 1 --evidence e :: --evidence has no effect
        --gadgets 1/64 --shorten 9 :: --shorten has no effect
        --jobs 2 :: --jobs is for all words
        --observe zero :: --observe needs --machine
        --as mealy :: --as needs --machine
        --start 0 :: --start needs --machine
        --machine C2 --observe zero :: models of outputs
        --jobs 2 :: say --exhaustive N as well
        --exhaustive 3 --memory much :: say 512MiB or 2GiB
        --exhaustive 3 --memory 1MiB :: allow at least --memory
        --exhaustive 3 --shard 3/2 :: the third of eight is 3/8
        --exhaustive 3 --jobs 2 --cluster local:2 :: say local:N
        --exhaustive 3 --cluster local:x :: say local:2
    """,
    "run MODEL": """
        --machine C2 :: --machine needs --expect
        --expect --complete sink :: --complete needs --machine
        --last :: --last is for --stream FILE
        --stream f --expect 1 :: --expect is for words
    """,
    "draw MODEL": """
        -o m.svg --complete sink :: needs a machine
        -o m.svg --eggbox :: --eggbox needs a machine
        --eggbox -o e.svg :: --eggbox needs a machine
    """,
    "compile Exp32 --arch rnn -o F": """
        --dtype bfloat16 :: too narrow
        --within -1 :: above 0
        --within 1e-30 :: no linear RNN
        --strict :: --strict
    """,
    "grammar pcfg:Dyck2": """
        -T 3 :: say --depth
        --seed 3 :: --seed is for --sample
        --word x :: has no letter 'x'
        --word '_ )_' :: has no such sentence
        --word '(x)' :: has no letter 'x'
    """,
    "grammar": """
        FlipFlop :: names no grammar
        pcfg:Nope :: there are AnBn
        none.pcfg :: cannot be read
        pcfg:English -D 1 :: take a greater depth
        pcfg:English --word 'the flies' :: no letter 'flies'
        pcfg:English --word flies :: no letter 'flies'
    """,
    "decompose Grid4": """
        --method magic :: --method
        --effort -1 :: --effort takes low, normal, high, unlimited or
        -o c.txt :: .svg, .png, .pdf, .json
        -o c :: .svg, .png, .pdf, .json
        --start 9 :: '9' is not a state
        -o nowhere/c.svg :: cannot be written
        -o nowhere/c.json :: cannot be written
    """,
    "decompose": """
        Mess3 :: not known to have finitely many beliefs, so it cannot serve as a machine
        EXAMPLES/tiger.pomdp :: so it cannot serve as a machine
        Grid9 --method holonomy --effort 0 :: raise --effort
        nothing :: zoo
    """,
    "compare C2": """
        --preset huge :: --preset takes desk, paper, not 'huge'
        --layers 0 :: --layers
        --positions guessed :: sinusoidal
        --device abacus :: cannot compute on 'abacus'
        --device cuda:99 :: cannot compute on 'cuda:99'
        -o page.txt :: .html
        -o /no/such/folder/page.html :: can be written
    """,
    "compare": """
        Nothing :: Nothing
        'flip-flop, generative' :: next letter
        S7 --seeds 1 :: 5,040 answers
    """,
    "draw": """
        Mess3 --eggbox -o x.svg :: --eggbox has no effect on a
        MatMul5,5@3 -o x.svg :: has no picture
        Cyclic-HARD5,5@3 -o x.svg :: up to 40
        A5 --eggbox --effort 0 -o e.svg :: too large for a picture
        A5 --effort high -o e.svg :: --effort is for --eggbox only
        Grid4 --eggbox -o e.txt :: .svg, .png, .pdf
    """,
    "explain": """
        ShortLIS4,9999 :: 0 to 512 at most
        program:sort --construction scan ::
        pcfg:Dyck2:depth=99 :: a depth is from 0 to 64
        pcfg:Dyck2:depth=99999 :: a depth is from 0 to 64, not 99999
        pcfg:Dyck2:depth=x :: a depth is from 0 to 64, not x
        none.pcfg:depth=3 :: none.pcfg: cannot be read
        none.kalman :: none.kalman: cannot be read
        RanLDS0@3 :: 1 to 64 states
        absent.pomdp :: absent.pomdp: cannot be read
        absent.npz :: absent.npz: cannot be read
        absent.json :: absent.json
        RanHMM1,1@3 :: 2 to 64 states
    """,
    "run": """
        Arithmetic1,3 1/0 :: divides by zero: 1 / 0
    """,
    "compile": """
        C2 -T 5 --opening 1/2 -o F :: --construction balanced only
        C2 -T 5 --construction scan --effort low -o F :: that search
        C2 -T 5 --arch mamba -o F :: --arch takes transformer or rnn
        Dyck2,2 -T 6 --construction balanced --minimise widest -o F :: has no effect
        Dyck2,2 -T 6 --construction balanced --start ε -o F :: takes none of
        Arithmetic3,9 -o F :: modulo a prime up to 31, not 9
        Counter4 -o F :: may go on for ever
        Sorting24 -o F :: end, within 6,924 tokens
        Sorting4 -T 4 -o F :: say a larger length
        Brackets4 --attention linear -o F :: or sparse
        none.rules -o F :: none.rules: cannot be read
        Arithmetic32,11 --dtype float32 -o F :: wider dtype
        ShortLIS0 -o F :: lists have 1 to 512 numbers
        ShortLIS4 -T 9 -o F :: -T is for words
        program:nothing -T 8 -o x :: there is no program
        program:sort -o x :: -T
        program:sort -T 8 -o x --uniform :: has no effect on a program
        pcfg:Dyck2 -T 4 -o x :: say one, as in pcfg:Dyck2:depth=3
        Exp32:swap=10 --arch rnn -o F :: Proposition 6.1
        Exp32:swap=10 --arch rnn -T 9 -o F :: leave -T out
        Exp32 --arch lstm -o F :: takes
        Exp32 --within 1e-30 -o F :: leave --within out
        Exp600 -o F :: at most 512 inputs
        Exp32 --dtype bfloat16 -o F :: too narrow
        Exp0 --arch rnn -o F :: 1 to 65536
        none.kernel --arch rnn -o F :: cannot be read
    """,
}
"""Commands, what may stand behind them, and what is said of it. F is a file that is not
there; MODEL is one for C2, and LEARNER one that learns in context.
"""


def rows() -> Iterator[tuple[str, str]]:
    for command, several in REFUSED.items():
        for row in several.strip().splitlines():
            more, _, reason = row.strip().partition("::")
            yield f"{command} {more.strip()}", reason.strip()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("refused")
    krohn.compile("C2", 5).save(folder / "MODEL.st")
    krohn.compile("InContext3,2:demonstrations=5,steps=4").save(folder / "LEARNER.st")
    return {path.stem: str(path) for path in folder.iterdir()}


def copies() -> Iterator[Any]:
    """All of them; one that looks long before it refuses is slow."""
    for command, reason in rows():
        long = "--within 1e-30" in command and "--arch rnn" in command
        yield pytest.param(command, reason, marks=[pytest.mark.slow] if long else [])


@pytest.mark.parametrize(("command", "reason"), list(copies()))
def test_it_is_refused_in_one_line(
    command: str,
    reason: str,
    models: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = command.replace("EXAMPLES", str(EXAMPLES))
    assert cli.run([models.get(word, word) for word in shlex.split(words)]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    (line,) = printed.err.splitlines()
    assert reason in line
    assert not list(tmp_path.iterdir())
