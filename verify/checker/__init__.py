"""The small checker: what it accepts is `verified`; it trusts nothing but `program`."""
