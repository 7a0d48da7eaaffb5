"""Wrong command lines, of every command and every kind of mistake.

Each ends with exit code 2 and one line, which says what is wrong in the words of Krohn, and
not in those of a library; nothing is written.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from help_examples import GROUP, NAMES, examples

import krohn
from krohn import cli
from krohn.commands.usage import KINDS

RAW = re.compile(
    r"Traceback|Invalid value|Input should|Errno|codec|deserializ|Error\b|NoneType|"
    r"object has no|unexpected|not in the range|requires an argument|<class|\[\]|None\b"
)
"""Words of libraries, and of Python."""
TEXT = b"hello world\n"
FILES = {
    "empty.dot": b"",
    "empty.st": b"",
    "empty.csv": b"",
    "text.st": TEXT,
    "text.csv": TEXT,
    "text.npy": TEXT,
    "text.pcfg": TEXT,
    "machine": TEXT,
    "binary.dot": bytes(range(256)),
    "wrong.json": b'{"letters": ["a"], "edges": 3}',
    "list.json": b"[1, 2]",
    "edges.csv": b"from,to\na,b\n",
    "table.csv": b"machine\nC2\n",
}
"""Files that are there, beside a folder that is not empty, a model, and damaged models."""

MISTAKES = r"""
compile :: compile needs MACHINE and -o/--output and -T/--length
compile nothing -T 4 -o F.st :: the zoo has no machine 'nothing'
compile C2 -T 4 -o folder :: folder: cannot be written: it is a directory; name a
compile C2 -T 4 -o no/where/F.st :: no/where/F.st: cannot be written: there is no
compile C2 -T 4 -o F.txt :: F.txt: the name of a model file ends in .safetensors
compile C2 -T 4 -o '' :: .: cannot be written: it is a directory; name a file
compile C2 -T four -o F.st :: -T/--length takes a whole number of 1 or more, not
compile C2 -T -4 -o F.st :: -T/--length takes a whole number of 1 or more, not -4
compile C2 -T 99999999999 -o F.st :: T = 99999999999 is too long: at most
compile C2 -T 1e3 -o F.st :: -T/--length takes a whole number of 1 or more, not
compile C2 -T 4 --dtype float8 -o F.st :: there is no dtype 'float8' (did you mean
compile C2 -T 4 --dtype fp16 -o F.st :: there is no dtype 'fp16'; there are
compile C2 -T 4 --construction atention -o F.st :: there is no construction
compile C2 -T 4 --arch lsmt -o F.st :: --arch takes transformer or rnn or lstm or
compile C2 -T 4 --observe output -o F.st :: there is no observation 'output';
compile C2 -T 4 --start q0 -o F.st :: 'q0' is not a state of C2; its states are 0,
compile C2 -T 4 --minimise width -o F.st :: --minimise takes depth, widest,
compile C2 -T 4 --effort hard -o F.st :: --effort takes low, normal, high,
compile C2 -T 4 --within 0.1 -o F.st :: --within is for beliefs; the states of a
compile C2 -T 4 --block 2 --arch rnn -o F.st :: --arch has no effect on a text in
compile C2 -T 4 --disguise twist -o F.st :: --disguise takes rotate, dense,
compile C2 -T 4 --complete maybe -o F.st :: --complete takes reject, sink or stay,
compile C2 -T 4 --as dfa -o F.st :: --as takes acceptor or mealy, not 'dfa'
compile empty.dot -T 4 -o F.st :: empty.dot:1: not DOT: column 1: expected
compile folder -T 4 -o F.st :: folder is not a regular file: it is a directory
compile good.st -o F.st :: a Transformer needs the longest length it is
compile machine -T 4 -o F.st :: machine: unknown format; name the file with one of
compile regex: -T 4 -o F.st :: the pattern '' is refused: no letters in it
compile 'regex:(ab' -T 4 -o F.st :: the pattern '(ab' is refused: at character 1,
compile 'regex:a**' -T 4 -o F.st :: the pattern 'a**' is refused: '*' repeats a
compile formal:a+ -T 4 -o F.st :: the pattern 'a+' is refused: at character 2,
compile (ab)* -T 4 -o F.st :: the zoo has no machine '(ab)*'; `krohn zoo` lists
compile wrong.json -T 4 -o F.st :: wrong.json: the key 'format' must be
compile list.json -T 4 -o F.st :: list.json: expected a JSON object, found a list
compile text.csv -T 4 -o F.st :: text.csv: line 1: 'hello' is no number
compile binary.dot -T 4 -o F.st :: binary.dot: this looks like binary data, or
compile Mess3 -T 4 --within -1 -o F.st :: --within takes a number above 0, not -1
compile c2 -T 4 -o F.st :: the zoo has no machine 'c2'
compile S6x -T 4 -o F.st :: the zoo has no machine 'S6x'
compile S99 -T 4 -o F.st :: S99 is not in the zoo: S2 to S8 are
compile C0 -T 4 -o F.st :: C0 is not in the zoo: C1 to
compile C2 C3 -T 4 -o F.st :: compile takes no further argument: C3
compile C2 -t 4 -o F.st :: compile has no option -t (did you mean -T?)
compile C2 -T 4 --output :: --output needs a value
compile S5 -T 4 -o :: -o needs a value
verify :: verify needs F
verify nothing.st :: nothing.st: cannot be read: No such file or
verify folder :: folder is not a regular file: it is a directory
verify empty.st :: empty.st: is not a safetensors file (shorter
verify text.st :: text.st: is not a safetensors file, or is
verify damaged.st :: damaged.st: is damaged: its header cannot be read
verify short.st :: short.st: is damaged: it is cut short, or
verify wrong.json :: wrong.json: is not a safetensors file, or is truncated (its
verify good.st --machine C3 :: C3 and the model have different letters:
verify good.st --machine nothing.dot :: nothing.dot: cannot be read: No
verify good.st --digest 12345 :: 5 digits of a digest are too few to
verify good.st --digest not-a-digest :: a digest is 32 to 64 hexadecimal
verify good.st --exhaustive 0 :: --exhaustive takes a whole number of 1
verify good.st --sample many :: --sample takes a whole number of 1 or
verify good.st --evidence no/where.json :: no/where.json: cannot be
verify good.st --smt 2 --proof :: --smt and --gadgets are claims of their
verify good.st --gadgets 2 :: --gadgets takes a number from 0 to 1/2, not
verify good.st --digits 99 :: --digits takes a whole number from 1 to 53,
verify good.st -T 4 --proof :: -T is for words that are run; a proof is
verify good.st --jobs 2 :: --jobs is for all words up to a length; say
verify good.st --attack -1 :: --attack takes a number of 0 or more, not
verify C2 :: C2: cannot be read: No such file or directory; `krohn compile` writes
verify good.st good.st :: verify takes no further argument:
verify good.st --gadgets x :: --gadgets takes a number such as 1/64 or
verify good.st --gadgets 1/4 --error 3 :: --error takes a number from 0
verify good.st --seed x :: --seed takes a whole number of 0 or more, not
recheck good.st :: recheck needs EVIDENCE
recheck good.st nothing.json :: nothing.json: cannot be read: No such
recheck good.st list.json :: list.json is no evidence (it is not JSON);
recheck good.st folder :: folder is not a regular file: it is a directory
recheck nothing.st nothing.json :: nothing.st: cannot be read:
run good.st 0 2 :: '2' is not a letter (letter 2); the letters are 0, 1
run good.st 0 1 0 1 0 1 :: this model is for words of up to 5 letters;
run good.st 'x y' :: 'x' is not a letter (letter 1); the letters are 0, 1
run good.st '"0' :: '"' is not a letter (letter 1); the letters are 0, 1
run good.st 0 --expect 7 :: the model has no answer '7'; its states are
run good.st --stream nothing :: nothing: No such file or directory
run good.st --machine :: --machine needs a value
run nothing.st 0 :: nothing.st: cannot be read: No such file or
run folder 0 :: folder is not a regular file: it is a directory; a model file is
run S5 0 :: S5 is a machine, and no model file: krohn compile S5 -T 64 -o
draw good.st -o F.doc :: F.doc: no picture format goes by the ending
draw good.st :: draw needs -o/--output
draw C2 -o F.html :: F.html: only a model file is written as a page; `krohn
draw nothing -o F.svg :: the zoo has no machine 'nothing'
draw good.st -o folder :: folder: no picture format goes by the ending
draw good.st -o no/where.svg :: no/where.svg: cannot be written: there is
draw good.st --word 0 -o F.svg :: --word is for dynamic programs and
explain :: explain needs MACHINE
explain nothing :: the zoo has no machine 'nothing'
explain C2 --arch rnn :: --arch takes transformer or ssm, not 'rnn'
explain C2 -o sizes.txt :: sizes.txt: no picture format goes by the ending '.txt';
explain C2 --dtype int8 :: there is no dtype 'int8'; there are float64, float32,
explain empty.dot :: empty.dot:1: not DOT: column 1: expected 'digraph', found the
explain folder :: folder is not a regular file: it is a directory
explain good.st -T 0 :: -T/--length takes a whole number of 1 or more,
decompose C2 --method best :: --method takes auto, holonomy, derived, congruence,
decompose C2 -o c.txt :: c.txt: the ending '.txt' says neither picture nor data;
decompose nothing :: the zoo has no machine 'nothing'
zoo C2 :: zoo takes no further argument: C2
zoo -o F.txt :: F.txt: no picture format goes by the ending '.txt'; choose a name
zoo --jsno :: zoo has no option --jsno (did you mean --json?)
schema nothing :: there is no schema 'nothing'; `krohn schema` lists them
schema verify explain :: schema takes no further argument: explain
batch nothing.csv -o t.csv :: nothing.csv: cannot be read: No such file or
batch empty.csv -o t.csv :: empty.csv:1: there is no column machine, which names
batch text.csv -o t.csv :: text.csv:1: there is no column 'hello world'; there are
batch folder -o t.xls :: t.xls: no table format goes by the ending '.xls'; choose
batch folder :: folder: the folder has no file of a machine or another source
batch table.csv -o t.csv --jobs 0 :: --jobs takes a whole number of 1 or more, not
batch table.csv -o t.csv --effort a :: --effort is for --longest only; leave it
compare :: compare needs MACHINE
compare C2 --preset big :: --preset takes desk, paper, not 'big'
compare C2 --positions none,rope :: --positions takes sinusoidal, linear, learned,
compare C2 --seeds 0 -o c.html :: --seeds takes a whole number of 1 or more, not 0
compare C2 -o c.txt :: c.txt: a page needs a name that ends in .html
compare C2 --device gpu :: torch cannot compute on 'gpu' here; name a device that
crasp nothing :: the zoo has no machine 'nothing'
crasp C2 :: C2 does not state which words it accepts; use a regular expression, or
crasp 'regex:(aa)*' -T 0 :: -T/--length takes a whole number of 1 or more, not 0
decompile good.st :: models are recovered from networks of hidden Markov
decompile nothing.npy :: nothing.npy: cannot be read: No such file or directory
decompile text.npy :: text.npy: cannot be read as an array of numbers
decompile folder :: folder is not a regular file: it is a directory
equivalent C2 :: equivalent needs B
equivalent C2 nothing :: the zoo has no machine 'nothing'
equivalent C2 C3 :: C2 and C3 have different letters: 0 1, and 0 1 2
equivalent C2 C2 --relation similar :: --relation takes equal, included, not
equivalent good.st C2 --up-to colour :: --up-to takes names, outputs,
equivalent crasp:Nothing C2 :: there is no counting program 'Nothing'; there are
export good.st --to keras -o d :: --to takes transformer-lens,
export good.st --to onnx :: export needs -o/--output
export good.st --to onnx -o folder :: folder exists and is not empty;
export nothing.st --to onnx -o d :: nothing.st: cannot be read:
export good.st --to onnx -o no/where/d :: there is no directory no/where
export empty.st --to onnx -o d :: empty.st: is not a safetensors
fuzz nothing.st :: nothing.st: cannot be read: No such file or
fuzz good.st --engine jax :: --engine takes torch, numpy,
fuzz good.st --answers 0 :: --answers takes a whole number of 1 or more,
fuzz text.st :: text.st: is not a safetensors file, or is
attention good.st :: attention is compared for --construction balanced
attention nothing.st :: nothing.st: cannot be read: No such file
attention good.st --word 0 -o F.doc :: F.doc: no picture format goes by
grammar nothing :: nothing names no grammar; there are pcfg:AnBn, pcfg:Brackets,
grammar pcfg:Dyck2 --depth -1 :: -D/--depth takes a whole number of 0 or more, not
grammar pcfg:Dyck2 --word abc :: pcfg:Dyck2 has no letter 'a'; it has ( ) [ ]
grammar text.pcfg :: text.pcfg, line 1: a rule is written S -> A B [0.7] | c [0.3]
learn nothing.st :: nothing.st: cannot be read: No such file or
learn folder :: folder holds no run of krohn compare, and no export
learn good.st --method lsat :: --method takes lstar, rpni, not 'lsat'
learn good.st --form dfa :: --form takes moore, mealy, not 'dfa'
learn good.st -o learned.xyz :: learned.xyz: no picture format goes by
learn good.st --machine nothing :: the zoo has no machine 'nothing'
score wrong.json edges.csv :: wrong.json is no circuit.json of Krohn; exports and
score nothing.json edges.csv :: nothing.json: cannot be read: No such file or
score list.json edges.csv :: list.json is no circuit.json of Krohn; exports and
score :: score needs CIRCUIT and ANSWER
texts nothing -o d :: there are no texts of 'nothing'; there are of dynamic
texts C2 -o d :: there are no texts of 'C2'; there are of dynamic programs and
texts EditDistance6,7 -o folder :: folder exists and is not empty; name another
texts EditDistance6,7 -o d --format json :: --format takes krohn or feng, not
texts EditDistance6,7 -o d -n 0 :: -n/--train takes a whole number of 1 or more,
workbench folder :: folder exists and is not empty; name another directory
workbench d --only nothing :: the workbench has no network 'nothing' (did you mean
workbench nothing --check :: nothing/workbench.json is no list of a workbench;
workbench folder --check :: folder/workbench.json is no list of a workbench;
compiel C2 :: there is no command 'compiel' (did you mean compile?)
--verbose zoo :: krohn has no option --verbose (did you mean --version?)
-h :: krohn has no option -h
formal good.st :: formal needs -o/--output
"""
"""Commands, and what is said of them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files."""
    made = tmp_path_factory.mktemp("mistakes")
    for name, data in FILES.items():
        (made / name).write_bytes(data)
    krohn.compile("C2", 5).save(made / "good.st")
    model = (made / "good.st").read_bytes()
    (made / "short.st").write_bytes(model[:-10])
    damaged = bytearray(model)
    damaged[40] ^= 255
    (made / "damaged.st").write_bytes(damaged)
    (made / "folder").mkdir()
    (made / "folder" / "notes.txt").write_bytes(TEXT)
    return made


@pytest.fixture
def place(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that is said of a wrong command."""
    assert cli.run(words) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert (printed.out, line[:7]) == ("", "krohn: ")
    assert not RAW.search(line)
    return line.removeprefix("krohn: ")


def rows() -> Iterator[tuple[str, str]]:
    for row in MISTAKES.strip().splitlines():
        command, _, reason = row.partition(" :: ")
        yield command, reason


@pytest.mark.parametrize(("command", "reason"), list(rows()))
def test_a_mistake_is_named(
    command: str, reason: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    assert refused(shlex.split(command), capsys).startswith(reason)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def of_commands() -> Iterator[tuple[str, list[str]]]:
    """The first example of each command: what is typed before an option."""
    for name in NAMES:
        yield name, next(words for words in examples(name) if words[0] == name)


def numbers() -> Iterator[tuple[str, Any]]:
    """The options of all commands that take numbers in a range."""
    for name in NAMES:
        for option in GROUP.commands[name].params:
            described = option.type_descriptor
            if described.annotation in KINDS and option.param_type_name == "option":
                yield name, option


@pytest.mark.parametrize("name", NAMES)
def test_an_option_that_there_is_not_is_named(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused([name, "--nonsense"], capsys).startswith(
        f"{name} has no option --nonsense"
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "typed"), list(of_commands()))
def test_every_option_needs_its_value(
    name: str, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for option in GROUP.commands[name].params:
        if option.param_type_name == "argument" or option.is_flag:
            continue
        if option.opts[-1] != "--expect":  # the answer is the machine's then
            line = refused([*typed, option.opts[-1]], capsys)
            assert line.startswith(f"{option.opts[-1]} needs a value")


@pytest.mark.sample(13)
@pytest.mark.parametrize(("name", "option"), list(numbers()))
def test_a_number_out_of_range_is_told_the_range(
    name: str, option: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = dict(of_commands())[name]
    info, kind = (
        option.type_descriptor.parameter_info,
        option.type_descriptor.annotation,
    )
    takes = f"{'/'.join(option.opts)} takes {KINDS[kind]}"
    wrong = [(info.min, -1, "of {:g} or more"), (info.max, 1, "to {:g}")]
    for bound, off, within in wrong:
        if bound is not None:
            value = f"{bound + off:g}"
            line = refused([*typed, f"{option.opts[-1]}={value}"], capsys)
            within = f"from {info.min:g} to {info.max:g}" if info.max else within
            assert line.startswith(f"{takes} {within.format(bound)}, not {value} (see")
    line = refused([*typed, f"{option.opts[-1]}=x"], capsys)
    assert line.startswith(takes)
    assert ", not 'x' (see" in line
