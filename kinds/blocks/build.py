"""Block chain of thought: a block decides the depth, whatever the length of the word."""

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.constructions.scan import scan
from krohn.kinds.blocks.statement import Blocks, longest
from krohn.program import Program

NAME = "blocks"


def blocks(source: Blocks, letters: int) -> Program:
    """The Program of a machine in blocks, for words up to ``letters``.

    A written state is a letter that leads to it from everywhere. So maps of the last
    b + 1 tokens, composed, say the state: ⌈log2(b + 1)⌉ levels instead of ⌈log2 T⌉.
    """
    names = source.tokens, source.states
    machine = Automaton(Semiautomaton(source.resets, *names), source.start)
    return scan(machine, longest(letters, source.block), window=source.block + 1)
