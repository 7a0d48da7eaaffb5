"""Files of trained networks, which are examined against a machine that the user names."""

from dataclasses import dataclass
from pathlib import Path

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.shown import Shows
from krohn.compare.models.files import load
from krohn.examination import examine
from krohn.machines import machine_of
from krohn.network.trained import is_network
from krohn.progress import Progress
from krohn.report import Report
from krohn.verification_target import DEFAULT_SAMPLE_LENGTH
from krohn.verify.testing.black_box import BlackBox, black_box
from krohn.verify.testing.examination import PREFIXES, SAMPLES
from krohn.verify.testing.exhaustive import words_below


@dataclass(frozen=True)
class Trained:
    """A trained network and the machine that it is held against.

    Attributes:
        network: The network, with the machine's names.
        machine: The machine.
    """

    network: BlackBox
    machine: Automaton

    def examine(
        self,
        *,
        exhaustive: int | None,
        sample: int | None,
        length: int | None,
        seed: int,
        budget: int,
        digest: str | None,
        progress: Progress | None,
    ) -> Report:
        """Search for a wrong word, as `krohn.examine` does.

        Args:
            exhaustive: All words of up to so many letters are run, however many.
            sample: So many words of full length are run.
            length: That; by default the longest that is run anyway, or can be read.
            seed: Of the samples.
            budget: How many words may be run to make a wrong one minimal.
            digest: Of what is asked, as in `krohn.verify`.
            progress: Called with what is being done, how much is done, and of how much.
        """
        # Who asks for all words only gets no samples, and who asks for nothing both.
        longest = length or (exhaustive if not sample else None)
        few = PREFIXES if not sample else 0
        if exhaustive:
            few = words_below(len(self.machine.letters), exhaustive)
        return examine(
            self.network,
            self.machine,
            longest or self.network.longest or DEFAULT_SAMPLE_LENGTH,
            prefixes=few,
            samples=sample or SAMPLES,
            seed=seed,
            budget=budget,
            digest=digest,
            progress=progress,
        )


def open_trained(
    model: object, machine: object, observation: str | None
) -> Trained | None:
    """A trained network with the machine that it is held against.

    Returns:
        None if the model is not the file of one.

    Raises:
        KrohnError: If the file is damaged, no machine is named, or it has another number
            of letters or classes.
    """
    if not isinstance(model, str | Path) or not is_network(model):
        return None
    if machine is None:
        raise KrohnError(
            f"{model} is a trained network, which states no machine; say --machine MACHINE"
        )
    wanted = machine_of(machine, observation=observation)
    network = load(model)
    shows: Shows = "states" if observation is None else "outputs"
    held = black_box(network, wanted, shows, network.longest)
    has = network.specification
    for what, count, names in (
        ("letters", has.letters, held.letters),
        ("classes", has.classes, held.classes),
    ):
        if count != len(names):
            raise KrohnError(
                f"the network has {count} {what}, and {wanted.name} has {len(names)}"
            )
    return Trained(held, wanted)
