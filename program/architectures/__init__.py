"""Architectures, one file each, which has the name of the architecture on file."""
