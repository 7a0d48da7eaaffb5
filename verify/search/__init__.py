"""Finding evidence that the small checker `verify.checker` can check. Nothing trusts it."""
