"""The sources beside machines, with exact reference interpreters."""
