"""Linear dynamical systems with noise, and their Kalman filter."""

from krohn.sources.linear_dynamics.dynamics import LinearDynamics, named

__all__ = ["LinearDynamics", "named"]
