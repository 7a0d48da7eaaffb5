"""What can be shown of a file: a type for each kind. No proof imports this module."""

from krohn.verify.checker import (
    generator,
    hidden_markov,
    in_context,
    linear_rnn,
    linear_system,
    real_networks,
    recurrent_beliefs,
    simulation,
    transformer,
)

WithinError = (
    linear_system.Established
    | hidden_markov.Established
    | in_context.Established
    | real_networks.Established
    | linear_rnn.Established
    | recurrent_beliefs.Established
)
"""What is shown of networks that say real numbers."""
Shown = (
    WithinError
    | transformer.Established
    | simulation.Established
    | generator.Established
)
