"""Files of trained networks, which are examined against a machine that the user names."""

from dataclasses import dataclass
from pathlib import Path

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.shown import Shows
from krohn.checks import Checks
from krohn.compare.models.files import load
from krohn.examination import examine
from krohn.machines import machine_of
from krohn.network.trained import is_network
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

    def examine(self, checks: Checks) -> Report:
        """Search for a wrong word, as `krohn.examine` does.

        Of the length that is said; by default the longest that is run anyway, or can be
        read.
        """
        exhaustive, sample = checks.exhaustive, checks.sample
        # Who asks for all words only gets no samples, and who asks for nothing both.
        longest = checks.length or (exhaustive if not sample else None)
        few = PREFIXES if not sample else 0
        if exhaustive:
            few = words_below(len(self.machine.letters), exhaustive)
        return examine(
            self.network,
            self.machine,
            longest or self.network.longest or DEFAULT_SAMPLE_LENGTH,
            prefixes=few,
            samples=sample or SAMPLES,
            seed=checks.seed,
            budget=checks.budget,
            digest=checks.digest,
            progress=checks.progress,
        )


def examined(path: str | Path, checks: Checks) -> Report:
    """What becomes of the file of a trained network.

    Raises:
        KrohnError: If it is damaged, no machine is named, or an option has no effect.
    """
    trained = open_trained(path, checks.machine, checks.observation)
    assert trained is not None
    if checks.proof or checks.sharding is not None:
        raise KrohnError(
            "a trained network is run by one process and cannot be proved; say "
            "--exhaustive N, --sample N, or neither"
        )
    return trained.examine(checks)


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
