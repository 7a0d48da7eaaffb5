"""Learning in context as model files state it: prompts, and steps of gradient descent."""

from dataclasses import dataclass
from itertools import product

from krohn.program.errors import demand
from krohn.program.stated import Size, StatedSource

DELIMITER = "|"
MOST_LETTERS, MOST_TARGETS, MOST_FEATURES = 64, 64, 256
MOST_STEPS, MOST_POSITIONS, MOST_SCORES = 256, 4096, 2**27


def name_letters(count: int) -> tuple[str, ...]:
    """So many letters by name, and the delimiter, which is the last."""
    return (*(str(a + 1) for a in range(count)), DELIMITER)


@dataclass(frozen=True)
class StatedInContext(StatedSource):
    """Learning in context: a prompt of demonstrations, and steps of gradient descent.

    A window is L letters in a row; its target is the tuple of the M letters after it. A
    prompt has 1 to n demonstrations of one window and its target each, and a test history
    of L to H letters. It asks for the law of what follows the history's last window.

    Laid out it has always N = n(L + M + 1) + H tokens: each demonstration is followed by
    a delimiter, those that are not there are delimiters, and so is what a short history
    leaves free before it. In front of a prompt there is BOS, a delimiter as well.

    Attributes:
        name: What it is called.
        letters: The letters by name, the delimiter last.
        window: L.
        demonstrations: n, the most demonstrations; they are averaged over n.
        history: H, the most letters of a test history.
        steps: T_0.
        ahead: M.

    Raises:
        Refused: If a number is too small or too large.
    """

    kind = "context-learner"
    derived = ("classes",)
    name: str
    letters: tuple[str, ...]
    window: Size
    demonstrations: Size
    history: Size
    steps: Size
    ahead: Size

    def __post_init__(self) -> None:
        demand(2 <= self.count <= MOST_LETTERS, f"2 to {MOST_LETTERS} letters")
        demand(self.letters == name_letters(self.count), "letters have other names")
        numbers = self.window, self.demonstrations, self.history, self.steps, self.ahead
        demand(all(type(n) is int and n > 0 for n in numbers), "a number is below 1")
        demand(self.ahead <= 8, "at most 8 letters are predicted at once")
        demand(
            self.targets <= MOST_TARGETS,
            f"{self.count} letters, {self.ahead} ahead, are {self.targets} targets; "
            f"{MOST_TARGETS} is the most",
        )
        demand(self.features <= MOST_FEATURES, f"at most {MOST_FEATURES} features")
        demand(self.steps <= MOST_STEPS, f"at most {MOST_STEPS} steps")
        demand(
            self.history >= self.window,
            f"the history is at least one window: history={self.window}",
        )
        demand(
            self.length <= MOST_POSITIONS,
            f"its prompts have {self.length} tokens; {MOST_POSITIONS} is the most",
        )
        demand(
            2 * self.targets * (self.length + 1) ** 2 <= MOST_SCORES,
            f"{self.targets} targets and {self.length} tokens are too many at once",
        )

    @property
    def count(self) -> int:
        """P: how many letters there are beside the delimiter."""
        return len(self.letters) - 1

    @property
    def features(self) -> int:
        """P·L: the length of a window as one-hot letters, latest first."""
        return self.count * self.window

    @property
    def targets(self) -> int:
        """p^M: how many tuples there are."""
        return int(self.count**self.ahead)

    @property
    def segment(self) -> int:
        """L + M: the letters of a demonstration."""
        return self.window + self.ahead

    @property
    def examples(self) -> int:
        """n(L + M + 1): the tokens before the history."""
        return self.demonstrations * (self.segment + 1)

    @property
    def length(self) -> int:
        """N: the tokens of a prompt without BOS."""
        return self.examples + self.history

    @property
    def copies(self) -> int:
        """L − 1 + M: the letters around a position that are copied to it."""
        return self.segment - 1

    @property
    def classes(self) -> tuple[str, ...]:
        """The tuples by name: the first letter counts most."""
        return tuple(map(" ".join, product(self.letters[:-1], repeat=self.ahead)))
