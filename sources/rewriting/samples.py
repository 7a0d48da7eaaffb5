"""Random lines of a rewriting system, and texts in which any place that fits is taken."""

import numpy as np

from krohn.program.rewriting import Computed, Line, Rewriting, Rule

MOST_TRIES = 50


def random_line(system: Rewriting, rng: np.random.Generator, steps: int) -> Line:
    """A line made by rules backwards from a letter that one writes, if any does.

    Feng et al. (2023) take a number, and replace numbers by operations with this value.

    Args:
        system: The rewriting system.
        rng: Where chance comes from.
        steps: How often a rule is applied backwards, if one can be.
    """
    line: Line = (int(rng.choice(_written(system) or range(system.end))),)
    for _ in range(steps):
        for _ in range(MOST_TRIES):
            rule = system.rules[rng.integers(len(system.rules))]
            at = int(rng.integers(-rule.start, len(line) + 1))
            found = _before(system, line, rule, at, rng)
            if found is not None and len(found) <= system.longest:
                line = found
                break
    return line


def _written(system: Rewriting) -> list[int]:
    """The letters that rules write."""
    found = set[int]()
    for written in (w for rule in system.rules for w in rule.writes):
        if isinstance(written, Computed):
            found |= set(system.functions[written.function].values.tolist())
        else:
            found.add(written)
    return sorted(found)


def _before(
    system: Rewriting, line: Line, rule: Rule, at: int, rng: np.random.Generator
) -> Line | None:
    """A line that a rule could have changed at a place into this one, if there is one."""
    around = (system.end, *line, system.end)
    start, after = at + 1 + rule.start, at + 1 + rule.start + len(rule.writes)
    rest = len(rule.window) - rule.stop
    if start - rule.start < 0 or after + rest > len(around) or after >= len(around):
        return None
    window = [x[rng.integers(len(x))] for x in rule.window]
    window[: rule.start] = around[start - rule.start : start]
    window[rule.stop :] = around[after : after + rest]
    for written, letter in zip(rule.writes, around[start:after], strict=True):
        if isinstance(written, Computed):
            function = system.functions[written.function]
            rows = function.rows[function.values == letter]
            kept = [
                np.isin(column, rule.window[place])
                for column, place in zip(rows.T, written.places, strict=True)
            ]
            rows = rows[np.all(kept, axis=0)]
            if not len(rows):
                return None
            for place, value in zip(written.places, rng.choice(rows), strict=True):
                window[place] = int(value)
        elif written != letter:
            return None
    fits = all(x in letters for x, letters in zip(window, rule.window, strict=True))
    if not fits or start == 0:
        return None
    changed = window[rule.start : rule.stop]
    return (*around[1:start], *changed, *around[after:-1])
