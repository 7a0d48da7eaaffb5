"""The attention of a network while it rewrites."""

from krohn.drawing.attention import Rollout
from krohn.kinds.dynamic_programs.draw_rollout import Text, of_network
from krohn.kinds.rewriting.statement import Rewriting
from krohn.network.modelfile import ModelFile
from krohn.program.domains import IntArray


def of_lines(
    file: ModelFile, source: Rewriting, prompt: int, tokens: IntArray
) -> Rollout:
    """The attention of a network while it rewrites a line of ``prompt`` letters."""
    called, line, place = list[str](), 1, 0
    for token in tokens.tolist():
        place += 1
        called.append(f"line[{line}, {place}]" if token < source.end else "")
        if token == source.end:
            line, place = line + 1, 0
    names = tuple(source.tokens[i] for i in tokens)
    text = Text(source.name, names, called, prompt + 1, len(tokens) - 2)
    return of_network(file, text, tokens)
