"""``python -m verify.checker MODEL EVIDENCE``: the small checker by itself."""

import sys
from pathlib import Path

from program.errors import Refused
from verify.checker.gpt2 import Files
from verify.checker.network import recheck

try:
    model, evidence = map(Path, sys.argv[1:3])
    data = Files.of(model) if model.is_dir() else model.read_bytes()
    found = recheck(data, evidence.read_bytes())
except (OSError, ValueError, Refused) as error:
    sys.exit(f"not shown: {error}")
facts = found.facts()
print(f"shown for {facts['covers']} in {facts['dtype']}")
