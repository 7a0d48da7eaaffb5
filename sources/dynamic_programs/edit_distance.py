"""Edit distance: insert 2, delete 2, replace 3 (Feng et al. 2023)."""

from string import ascii_lowercase

from program.chain_of_thought import Argument, ChainOfThought, Step
from program.errors import demand
from program.expressions import argument, differs, minimum

INDEL, REPLACE = 2, 3


MOST_LETTERS, MOST_CELLS = 26, 4096


def name(rows: int, columns: int, letters: int = 26, boundary: int = INDEL) -> str:
    """What it is called: ``EditDistance6,7``, ``EditDistance6,7:letters=4,boundary=1``."""
    other = {"letters": (letters, 26), "boundary": (boundary, INDEL)}
    told = [f"{key}={value}" for key, (value, usual) in other.items() if value != usual]
    return ":".join([f"EditDistance{rows},{columns}", *[",".join(told)][: len(told)]])


def edit_distance(
    rows: int, columns: int, letters: int = 26, boundary: int = INDEL
) -> ChainOfThought:
    """The table of distances between prefixes, row by row, then the answer.

    The text is ``s|t<sep>``, each row of the table with a comma, ``<sep>``, the last
    entry once more, ``<eos>``. The number at (j, k) is the least of dp(j−1, k) + 2,
    dp(j, k−1) + 2 and dp(j−1, k−1) + 3·[s_j ≠ t_k].

    Args:
        rows: The letters of s, at least 1.
        columns: The letters of t, at least 1.
        letters: How many letters there are: a, b, ….
        boundary: The cost of a letter in dp(j, 0) and dp(0, k): 2; or 1, as the public
            generator of Feng et al. has it.

    Raises:
        Refused: If a number is out of range.
    """
    demand(rows >= 1 and columns >= 1, "both words of an edit distance have letters")
    demand(rows * columns <= MOST_CELLS, f"there are more than {MOST_CELLS} cells")
    demand(1 <= letters <= MOST_LETTERS, f"there are 1 to {MOST_LETTERS} letters")
    demand(boundary in (1, INDEL), f"a boundary costs 1 or {INDEL} a letter")
    most = boundary * (rows + columns)
    most = max(most, INDEL * (rows + columns))
    names = (*map(str, range(most + 1)), *ascii_lowercase[:letters])
    first, signs = most + 1, most + 1 + letters
    bar, comma, separator, end = range(signs, signs + 4)
    prompt = [(first, signs - 1)] * rows + [(bar, bar)]
    prompt += [(first, signs - 1)] * columns + [(separator, separator)]
    start = len(prompt) + 1  # where the table begins; a row has a comma more

    def cell(j: int, k: int) -> Argument:
        if j and k:
            return Argument(start + (j - 1) * (columns + 1) + k - 1, 0)
        return Argument(0, boundary * (j + k))

    up, left, across, s, t = map(argument, range(5))
    rule = minimum(up + INDEL, left + INDEL, across + REPLACE * differs(s, t))
    steps = []
    for j in range(1, rows + 1):
        for k in range(1, columns + 1):
            cells = (cell(j - 1, k), cell(j, k - 1), cell(j - 1, k - 1))
            read = (*cells, Argument(j, 0), Argument(rows + 1 + k, 0))
            steps.append(Step(None, 0, read))
        steps.append(Step(comma, 0, ()))
    steps.append(Step(separator, 0, ()))
    steps.append(Step(None, 1, (cell(rows, columns),)))
    steps.append(Step(end, 0, ()))
    return ChainOfThought(
        name=name(rows, columns, letters, boundary),
        tokens=(*names, "|", ",", "<sep>", "<eos>"),
        contents=(*range(most + 1), *range(letters), 0, 0, 0, 0),
        numbers=most + 1,
        prompt=tuple(prompt),
        rules=(rule, argument(0)),
        steps=tuple(steps),
        answer=start + len(steps) - 2,
    )
