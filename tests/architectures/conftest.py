"""Fixtures of commands and of model files taken apart."""

from command_fixtures import *  # noqa: F403
from model_parts import *  # noqa: F403
