"""A second, small proof checker, which trusts nothing else of this project."""
