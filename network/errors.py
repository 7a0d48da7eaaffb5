"""What goes wrong with a model file."""


class ModelFileError(Exception):
    """A model file cannot be read or written; the message says why."""
