"""The kernel: check functions that Coq has proved sound, extracted to OCaml."""
