"""Finding evidence that the small checker `krohn.verify.checker` can check. Nothing trusts it."""
