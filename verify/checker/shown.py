"""What can be shown of a file: a type for each kind. No proof imports this module."""

from krohn.verify.checker import (
    claimed_error,
    generator,
    in_context,
    real_networks,
    recurrent_beliefs,
    simulation,
    transformer,
)

WithinError = (
    claimed_error.Established
    | in_context.Established
    | real_networks.Established
    | recurrent_beliefs.Established
)
"""What is shown of networks that say real numbers."""
Shown = (
    WithinError
    | transformer.Established
    | simulation.Established
    | generator.Established
)
