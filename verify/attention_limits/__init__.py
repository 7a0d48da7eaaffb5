"""Limits of heads, from their tensors alone: theorems of docs/independent.md."""
