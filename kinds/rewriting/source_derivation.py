"""The texts of rewriting systems, from what their rules mean."""

from collections.abc import Iterator, Sequence

import numpy as np

from krohn.kinds.rewriting.statement import (
    Computed,
    Line,
    Rewriting,
    Rule,
)


def text_of(
    source: Rewriting,
    line: Sequence[int],
    most: int,
    rng: np.random.Generator | None = None,
) -> list[int]:
    """The first tokens of the text of a line, ``most`` of them or all.

    Args:
        source: The rules.
        line: The line.
        most: So many tokens.
        rng: Chooses the place where a rule is applied, of all where one can be, each as
            likely; None for the first one.
    """
    now, text = tuple(line), [*line, source.end]
    while len(text) < most:
        now = after(source, now, rng)
        done = next(applicable_rules(source, now), None) is None
        text += [*now, source.end + done]
        if done:
            break
    return text[:most]


def after(
    system: Rewriting, line: Line, rng: np.random.Generator | None = None
) -> Line:
    """The next line, by the first rule that applies, or any; the same if none does."""
    rules = applicable_rules(system, line)
    if rng is not None:
        every = list(rules)
        rules = iter(every and [every[rng.integers(len(every))]])
    for rule, at in rules:
        return apply_rule(system, line, rule, at)
    return line


def applicable_rules(
    system: Rewriting, line: Sequence[int]
) -> Iterator[tuple[Rule, int]]:
    """The rules that apply: at each place the first one, and where its window starts.

    The start is counted from the letter before the line, its end or start, as 0.
    """
    around = (system.end, *line, system.end)
    for stop in range(1, len(around) + 1):
        for rule in system.rules:
            at = stop - len(rule.window)
            read = zip(rule.window, around[at:stop], strict=True) if at >= 0 else ()
            if at >= 0 and all(token in letters for letters, token in read):
                yield rule, at
                break


def apply_rule(system: Rewriting, line: Line, rule: Rule, at: int) -> Line:
    """A line after a rule was applied at a place that `applicable_rules` gives."""
    around = (system.end, *line, system.end)
    window = np.array(around[at : at + len(rule.window)])
    written = [
        int(system.functions[w.function](list(window[list(w.places), None]))[0])
        if isinstance(w, Computed)
        else w
        for w in rule.writes
    ]
    return (*around[1 : at + rule.start], *written, *around[at + rule.stop : -1])
