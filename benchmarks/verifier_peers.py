"""Verifiers of neural networks, asked what Krohn proves: right on all words of a length.

The network is the RNN of ReLUs that Krohn compiles, unrolled: n times the same layer, of
which each reads the one-hot vector of a letter. Krohn's proof is about words of every
length. Marabou 2.0 (Wu et al. 2024) gets the letters, the states of the machine and the
wrong answer as disjunctions, and is to find them contradictory; a word that it finds is
replayed. auto_LiRPA 0.3 (Xu et al. 2020) bounds the margins by CROWN: of all words one by
one, in one batch; or of boxes of words, whose last letters are fixed one after the other
where the bound is too loose, or several states are possible.

Both are optional (``pip install --no-deps maraboupy auto_LiRPA appdirs ordered-set``): a
row is left out where its package is missing. Each question has a process of its own with
one thread, and CPU seconds up to a limit.
"""

import resource
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from itertools import product
from multiprocessing import get_context
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from torch import Tensor, nn

import krohn
from krohn.algebra.automaton import Automaton
from krohn.network.modelfile import ModelFile
from krohn.verify.proof import prove

MACHINES, LENGTHS = ("FlipFlop", "C2"), (6, 7, 8)
LIMIT = 30
"""CPU seconds of a question."""
RANGE = 100.0
"""Marabou wants bounds of all numbers; those of these networks are far within."""
BOXES = 4_096
"""How many boxes are bounded at once."""


class Case(NamedTuple):
    """A machine, and the length of the words."""

    name: str
    length: int

    def network(self) -> tuple[ModelFile, Automaton]:
        """The RNN, not proved yet, and what it should compute."""
        file = krohn.compile(self.name, arch="rnn", proof=False).file
        return file, krohn.zoo(self.name)


Answer = tuple[str, float | None]
"""What a verifier says, and its CPU seconds; None if it was stopped."""


def by_krohn(case: Case) -> Answer:
    """The proof by the rules, for words of every length: the quickest of three."""
    file, machine = case.network()
    times = []
    for _ in range(3):
        began = thread_time()
        proof = prove(file, machine)
        times.append(thread_time() - began)
    return str(proof.verdict), min(times)


def linear(weight: Any, bias: Any = None) -> nn.Linear:
    """The map x · weight + bias."""
    made = nn.Linear(*weight.shape, bias=bias is not None)
    made.weight.data = torch.tensor(weight.T, dtype=torch.float32)
    if bias is not None:
        made.bias.data = torch.tensor(bias, dtype=torch.float32)
    return made


class Unrolled(nn.Module):
    """From one-hot letters ``(batch, n · letters)`` to the logits after the last one.

    Nothing but affine maps of the whole input, sums and ReLUs, as verifiers like it.
    """

    def __init__(self, file: ModelFile, length: int) -> None:
        super().__init__()
        tensors = file.tensors
        read, again = tensors["input.weight"], tensors["hidden.weight"]
        bias, (k, hidden) = tensors["hidden.bias"], read.shape
        layers = []
        for t in range(length):
            weight = np.zeros((length * k, hidden))
            weight[t * k : t * k + k] = read
            first = tensors["hidden.start"] @ again + bias
            layers.append(linear(weight, bias if t else first))
        self.reads = nn.ModuleList(layers)
        self.goes_on = linear(again)
        self.says = linear(tensors["unembed.weight"], tensors["unembed.bias"])

    def forward(self, x: Tensor) -> Tensor:
        """The logits."""
        first, *others = self.reads
        h = torch.relu(first(x))
        for read in others:
            h = torch.relu(read(x) + self.goes_on(h))
        return self.says(h)  # type: ignore[no-any-return]


# CROWN.


def bounder(case: Case) -> tuple[Any, Any, Automaton]:
    """auto_LiRPA, its module of the network, and the machine.

    Version 0.3 was made for another numpy and torch: four of their names are told anew.
    """
    old: Any = types.ModuleType("numpy.lib.arraysetops")
    old.isin = np.isin
    sys.modules["numpy.lib.arraysetops"] = old
    import torch.onnx.symbolic_helper as helper

    helper._set_opset_version = lambda _: None  # type: ignore[attr-defined]
    node: Any = torch._C.Node
    node.__getitem__ = lambda self, name: getattr(self, self.kindOf(name))(name)
    warnings.simplefilter("ignore")
    import auto_LiRPA

    bounded = auto_LiRPA.BoundedModule
    members = bounded._named_members
    bounded._named_members = lambda *args, remove_duplicate=True, **options: members(
        *args, **options
    )
    file, machine = case.network()
    network = Unrolled(file, case.length)
    inputs = torch.zeros(1, case.length * len(machine.letters))
    how = {"conv_mode": "matrix"}  # else sums are taken for those of images
    return auto_LiRPA, auto_LiRPA.BoundedModule(network, inputs, how), machine


def least_margins(
    lirpa: Any, module: Any, low: Tensor, high: Tensor, right: Any
) -> Tensor:
    """``(batch,)``: below every margin of the right logit in each box."""
    states = module.final_shape[-1]
    others = [[s for s in range(states) if s != q] for q in right]
    unit = torch.eye(states)
    rows = torch.stack([unit[q] - unit[o] for q, o in zip(right, others, strict=True)])
    box = lirpa.PerturbationLpNorm(norm=np.inf, x_L=low, x_U=high)
    x = lirpa.BoundedTensor((low + high) / 2, box)
    with torch.no_grad():
        bound, _ = module.compute_bounds(
            x=(x,), C=rows, method="CROWN", bound_upper=False
        )
    return bound.min(dim=1).values  # type: ignore[no-any-return]


def by_enumeration(case: Case) -> Answer:
    """CROWN of each word, as a box of no width."""
    lirpa, module, machine = bounder(case)
    began, k = thread_time(), len(machine.letters)
    words = np.array(list(product(range(k), repeat=case.length)))
    right = machine.semiautomaton.trace(words, machine.start)[:, -1]
    sure = True
    for at in range(0, len(words), BOXES):
        x = torch.eye(k)[torch.from_numpy(words[at : at + BOXES])].flatten(1)
        sure &= bool(
            (least_margins(lirpa, module, x, x, right[at : at + BOXES]) > 0).all()
        )
    return "verified" if sure else "undecided", thread_time() - began


End = tuple[int, ...]
"""The last letters of the words of a box; those before them may be any."""


def by_branching(case: Case) -> Answer:
    """CROWN of boxes, whose last letters are fixed, one more where it is needed."""
    lirpa, module, machine = bounder(case)
    began, k = thread_time(), len(machine.letters)
    left: list[End] = [()]
    while left:
        ends, left = left[:BOXES], left[BOXES:]
        right = [only_state(machine, case.length, end) for end in ends]
        alone = [(e, q) for e, q in zip(ends, right, strict=True) if q is not None]
        loose = [e for e, q in zip(ends, right, strict=True) if q is None]
        if alone:
            low, high = boxes([end for end, _ in alone], case.length, k)
            states = [q for _, q in alone]
            sure = (least_margins(lirpa, module, low, high, states) > 0).tolist()
            loose += [e for (e, _), good in zip(alone, sure, strict=True) if not good]
        if any(len(end) == case.length for end in loose):
            return "undecided", thread_time() - began
        left += [(letter, *end) for end in loose for letter in range(k)]
    return "verified", thread_time() - began


def boxes(ends: list[End], length: int, letters: int) -> tuple[Tensor, Tensor]:
    """``(boxes, length · letters)`` each: the least and the largest one-hot letters."""
    low = torch.zeros(len(ends), length, letters)
    high, unit = torch.ones_like(low), torch.eye(letters)
    for row, end in enumerate(ends):
        if end:
            low[row, -len(end) :] = high[row, -len(end) :] = unit[list(end)]
    return low.flatten(1), high.flatten(1)


def only_state(machine: Automaton, length: int, end: End) -> int | None:
    """The state after all words of a length with these last letters, if it is one."""
    moves, states = machine.transitions, {machine.start}
    for _ in range(length - len(end)):
        states = {int(q) for state in states for q in moves[:, state]}
    for letter in end:
        states = {int(moves[letter, q]) for q in states}
    return states.pop() if len(states) == 1 else None


# Marabou.


class Query:
    """What Marabou is asked: is there a word after which a wrong logit is the largest?"""

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        from maraboupy import MarabouCore, MarabouNetwork, MarabouUtils

        self.query, self.equation = (
            MarabouNetwork.MarabouNetwork(),
            MarabouUtils.Equation,
        )
        self.kinds = MarabouCore.Equation

    def variables(self, count: int, low: float, high: float) -> list[int]:
        """New variables within bounds."""
        new = [self.query.getNewVariable() for _ in range(count)]
        for v in new:
            self.query.setLowerBound(v, low)
            self.query.setUpperBound(v, high)
        return new

    def constants(self, numbers: Any) -> list[int]:
        """New variables that are some numbers."""
        new = [self.query.getNewVariable() for _ in numbers]
        for v, number in zip(new, map(float, numbers), strict=True):
            self.query.setLowerBound(v, number)
            self.query.setUpperBound(v, number)
        return new

    def answer(self) -> tuple[str, Any]:
        """What Marabou says, and the values of all variables if there are some."""
        from maraboupy import Marabou

        options = Marabou.createOptions(verbosity=0, timeoutInSeconds=LIMIT)
        code, values, _ = self.query.solve(verbose=False, options=options)
        return {"unsat": "verified"}.get(code, str(code)), values

    def term(self, terms: list[tuple[float, int]], to: float, kind: str = "EQ") -> Any:
        """A sum that is, or is at least, a number."""
        made = self.equation(getattr(self.kinds, kind))
        for factor, v in terms:
            made.addAddend(float(factor), v)
        made.setScalar(float(to))
        return made

    def one_hot(self, vector: list[int], index: int) -> list[Any]:
        """A vector is that of an index."""
        return [self.term([(1, v)], float(i == index)) for i, v in enumerate(vector)]

    def affine(self, inputs: list[tuple[list[int], Any]], bias: Any) -> list[int]:
        """New variables: the sum of x · weight, and the bias."""
        made = self.variables(len(bias), -RANGE, RANGE)
        for j, v in enumerate(made):
            terms = [
                (m[i, j], x) for xs, m in inputs for i, x in enumerate(xs) if m[i, j]
            ]
            factors, names = [float(f) for f, _ in terms], [x for _, x in terms]
            self.query.addEquality([*names, v], [*factors, -1.0], -float(bias[j]))
        return made

    def relus(self, sums: list[int]) -> list[int]:
        """New variables: max(x, 0)."""
        units = self.variables(len(sums), 0, RANGE)
        for made, unit in zip(sums, units, strict=True):
            self.query.addRelu(made, unit)
        return units

    def letter(
        self, machine: Automaton, before: list[int]
    ) -> tuple[list[int], list[int]]:
        """A letter, and the state after it: one of the moves of the machine."""
        moves = machine.transitions
        count, states = moves.shape
        x, after = self.variables(count, 0, 1), self.variables(states, 0, 1)
        for vector in (x, after):
            self.query.addEquality(vector, [1.0] * len(vector), 1.0)
        each = product(range(count), range(states))
        self.query.addDisjunctionConstraint(
            [
                self.one_hot(x, o) + self.one_hot(before, q) + self.one_hot(after, to)
                for o, q in each
                for to in [moves[o, q]]
            ]
        )
        return x, after

    def wrong(self, state: list[int], logits: list[int]) -> None:
        """Another logit than that of the state is as large."""
        pairs = product(range(len(state)), repeat=2)
        self.query.addDisjunctionConstraint(
            [
                [
                    *self.one_hot(state, q),
                    self.term([(1, logits[p]), (-1, logits[q])], 0, "GE"),
                ]
                for q, p in pairs
                if p != q
            ]
        )


def question(case: Case, word: Sequence[int] | None) -> tuple[Query, list[list[int]]]:
    """Is there a wrong word, or is this one wrong; and the variables of its letters."""
    file, machine = case.network()
    tensors, ask = file.tensors, Query()
    again, bias = tensors["hidden.weight"], tensors["hidden.bias"]
    state = ask.constants(np.eye(len(machine.states))[machine.start])
    h, letters = ask.constants(tensors["hidden.start"]), []
    for t in range(case.length):
        if word is None:
            x, state = ask.letter(machine, state)
        else:
            x = ask.constants(np.eye(len(machine.letters))[word[t]])
        h = ask.relus(ask.affine([(x, tensors["input.weight"]), (h, again)], bias))
        letters.append(x)
    says = [(h, tensors["unembed.weight"])]
    if word is not None:
        state = ask.constants(np.eye(len(machine.states))[final(machine, word)])
    ask.wrong(state, ask.affine(says, tensors["unembed.bias"]))
    return ask, letters


def final(machine: Automaton, word: Sequence[int]) -> int:
    """The state after a word."""
    return int(machine.semiautomaton.trace(np.array([word]), machine.start)[0, -1])


def by_marabou(case: Case) -> Answer:
    """One question about all words; a word that it finds is replayed."""
    ask, letters = question(case, None)
    began = thread_time()
    said, values = ask.answer()
    took = thread_time() - began
    if said != "sat":
        return said, took
    word = [int(np.argmax([values[v] for v in x])) for x in letters]
    file, machine = case.network()
    one_hot = torch.eye(len(machine.letters))[word].flatten()[None]
    logit = int(Unrolled(file, case.length)(one_hot).argmax())
    return "refuted" if logit != final(machine, word) else "a word that is right", took


def by_marabou_alone(case: Case) -> Answer:
    """A question for each word."""
    letters, took = range(len(case.network()[1].letters)), 0.0
    for word in product(letters, repeat=case.length):
        ask, _ = question(case, word)
        began = thread_time()
        said, _ = ask.answer()
        took += thread_time() - began
        if said != "verified" or took > LIMIT:
            return said if said != "verified" else "no answer", took
    return "verified", took


# All of them.

VERIFIERS: dict[str, tuple[Callable[[Case], Answer], str]] = {
    "Krohn, every length": (by_krohn, "krohn"),
    "Marabou": (by_marabou, "maraboupy"),
    "Marabou, word by word": (by_marabou_alone, "maraboupy"),
    "CROWN, word by word": (by_enumeration, "auto_LiRPA"),
    "CROWN, boxes of words": (by_branching, "auto_LiRPA"),
}


def limited(ask: Callable[[Case], Answer], case: Case) -> Answer:
    """The answer, in a process that the system ends a little after its limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT + 10, LIMIT + 10))
    torch.set_num_threads(1)
    return ask(case)


def measure(case: Case) -> Row:
    """The row of a case: what each verifier says, and its CPU seconds."""
    row: Row = {"machine": case.name, "letters of a word": case.length}
    for name, (ask, package) in VERIFIERS.items():
        if find_spec(package) is None:
            continue
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                said, took = pool.submit(limited, ask, case).result()
            except BrokenProcessPool:
                said, took = "no answer", None
        row |= {name: said, f"{name}, s": took}
    return row


def main() -> None:
    """Ask all, and print the table."""
    found = parser(__doc__)
    found.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    options = found.parse_args()
    cases = [Case(name, n) for name in MACHINES for n in options.lengths]
    note = f"CPU seconds, {LIMIT} at most"
    title = "right on all words of a length"
    publish([Table(title, each(measure, cases), note)], options)


if __name__ == "__main__":
    main()
