"""The text that the commands print for people."""
