"""``python -m verify.checker MODEL EVIDENCE``: the small checker by itself."""

import sys
from pathlib import Path

from program.errors import Refused
from verify.checker.network import recheck

try:
    found = recheck(Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]).read_bytes())
except (OSError, IndexError, Refused) as error:
    sys.exit(f"not shown: {error}")
facts = found.facts()
print(f"shown for {facts['covers']} in {facts['dtype']}")
