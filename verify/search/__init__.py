"""Finding evidence for the small checker, `krohn.verify.checker`. Nothing trusts it."""
