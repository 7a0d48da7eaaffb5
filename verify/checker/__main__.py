"""``python -m verify.checker MODEL EVIDENCE``: the small checker by itself."""

import sys
from pathlib import Path

from program.errors import KrohnError, Refused
from program.files import read_bytes
from verify.checker.model_file import LARGEST_FILE
from verify.checker.network import opened, recheck

try:
    model, evidence = map(Path, sys.argv[1:3])
    found = recheck(opened(model), read_bytes(evidence, LARGEST_FILE))
except (KrohnError, ValueError, Refused) as error:
    sys.exit(f"not shown: {error}")
facts = found.facts()
print(f"shown for {facts['covers']} in {facts['dtype']}")
