"""Machines as acyclic graphs of nodes that a run leaves at most a few times."""
