"""Variables of an open network, chosen by name: they print themselves, and are changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import listed
from krohn.network.variables import Places, VariablePlace, Variables
from krohn.python_values import check_methods

if TYPE_CHECKING:
    from krohn.intervention import Outcome
    from krohn.open_model import Model


MOST_PRINTED = 20
"""Variables of a selection that are printed."""


@check_methods
@dataclass(frozen=True, repr=False, eq=False)
class Selection:
    """Variables of an open network.

    It prints how each is computed, where it lies, and what its values mean; and which
    variable holds the network's answer.

    Attributes:
        model: The network.
        variables: All its variables.
        names: Those that are selected.
    """

    model: "Model"
    variables: Variables
    names: tuple[str, ...]

    @property
    def place(self) -> VariablePlace:
        """Where the one variable lies.

        Raises:
            KrohnError: If several are selected, or it is stored nowhere.
        """
        if len(self.names) != 1:
            raise KrohnError(
                f"{len(self.names)} variables are selected ({listed(self.names)}); "
                "`places` has all"
            )
        return self.variables.place(self.names[0])

    @property
    def places(self) -> dict[str, VariablePlace]:
        """Where those lie that are stored, by name."""
        known = self.variables.places
        chosen = {name: known[name] for name in self.names if name in known}
        return Places(chosen, self.variables.place)

    def read(self, words: Any) -> Tensor | Mapping[str, Tensor]:
        """The values at every position; of several variables by name.

        Args:
            words: As `Model.read` takes them.

        Raises:
            KrohnError: As `Model.read` does.
        """
        found = {name: self.model.read(words, name) for name in self.names}
        return found[self.names[0]] if len(found) == 1 else found

    def patch(self, word: Any, position: int, value: int | str) -> "Outcome":
        """Give all of them a value at a position; also, what should happen then.

        Args:
            word: As `Model.patch` takes it, as the position and the value.
            position: After which letter: 1 is the first one.
            value: A whole number, or the name of a value.

        Raises:
            KrohnError: As `Model.patch` does.
        """
        patches = [(name, position, value) for name in self.names]
        try:
            return self.model.patch(word, patches)
        except KrohnError as error:
            if len(self.names) == 1:
                raise
            raise KrohnError(
                f"{error}; `patch` gives the value to all {len(self.names)} selected "
                "variables, so select those that can have it"
            ) from None

    def ablate(self, word: Any) -> "Outcome":
        """Take the heads away that write them; also, what should happen then.

        Args:
            word: As `Model.ablate` takes it.

        Raises:
            KrohnError: As `Model.ablate` does.
        """
        return self.model.ablate(word, self.names)

    def __repr__(self) -> str:
        shown, hidden = self.names[:MOST_PRINTED], len(self.names) - MOST_PRINTED
        more = [f"… ({hidden} more variables)"] * (hidden > 0)
        every = [*map(self.variables.describe, shown), *more]
        return "\n".join([*every, self.variables.answer] if self.names else every)
