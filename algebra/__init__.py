"""Machines, their algebra and their files. Never imports torch."""
