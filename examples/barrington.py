"""A network that evaluates Boolean formulas by composing permutations of five points.

Barrington's theorem turns a formula into a word of permutations; the compiled network
composes them. Run it with a formula of your own:

    python examples/barrington.py "a & ~b | (c ^ a)"
"""

import sys
from itertools import product

import numpy as np
from branching_program import compile_formula, machine, word
from formula import depth, evaluate, variables

import krohn
from krohn.algebra.errors import KrohnError
from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import PermutationGroup


def main(text: str) -> None:
    """Compile the machine, run every assignment, and compare with plain evaluation."""
    program = compile_formula(text)
    automaton = machine(program)
    compiled = krohn.compile(automaton, length=len(program))
    group = name(PermutationGroup(np.array(automaton.action)))
    print(f"{text}: {len(program)} instructions, at most 4^{depth(program.formula)}")
    sizes = compiled.summary()
    print(
        f"{compiled.construction} over {group}, {sizes['depth']} deep: "
        f"{sizes['parameters']:,} parameters, {sizes['verdict']}"
    )
    inputs = variables(program.formula)
    print(*inputs, "network", "python")
    for values in product((False, True), repeat=len(inputs)):
        assignment = dict(zip(inputs, values, strict=True))
        shown = compiled.model.run(list(word(program, assignment)))[-1]
        expected = str(evaluate(program.formula, assignment)).lower()
        print(*map(int, values), shown, expected)
        if shown != expected:
            raise SystemExit("the network is wrong, which its proof excludes")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "a & ~b | c & (a ^ b)")
    except KrohnError as error:
        print(f"barrington: {error}", file=sys.stderr)
        sys.exit(2)
