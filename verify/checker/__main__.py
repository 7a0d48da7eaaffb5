"""``python -m verify.checker MODEL EVIDENCE``: the small checker by itself."""

import sys
from pathlib import Path

from program.errors import KrohnError, Refused
from program.files import read_bytes
from verify.checker.gpt2 import MOST, Files
from verify.checker.network import recheck

try:
    model, evidence = map(Path, sys.argv[1:3])
    data = Files.of(model) if model.is_dir() else read_bytes(model, MOST)
    found = recheck(data, read_bytes(evidence, MOST))
except (KrohnError, ValueError, Refused) as error:
    sys.exit(f"not shown: {error}")
facts = found.facts()
print(f"shown for {facts['covers']} in {facts['dtype']}")
