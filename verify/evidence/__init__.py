"""Finding evidence that the small checker `verify.recheck` can check. Nothing trusts it."""
