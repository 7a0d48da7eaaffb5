"""``python -m krohn.verify.checker MODEL EVIDENCE [DIGEST]``: the small checker by itself.

With a digest, or its first 32 digits or more, the claim of the model must be that one.
"""

import sys
from pathlib import Path

from krohn.program.errors import KrohnError, demand
from krohn.program.files import read_bytes
from krohn.verify.checker.model_file import LARGEST_FILE
from krohn.verify.checker.network import contents, open_model, recheck

try:
    model, evidence = map(Path, sys.argv[1:3])
    data = contents(model)
    held = open_model(data)
    problem = "".join(map(held.claim.problem, sys.argv[3:]))
    demand(not problem, problem)
    found = recheck(data, read_bytes(evidence, LARGEST_FILE))
except (KrohnError, ValueError) as error:
    sys.exit(f"not shown: {error}")
assert found.proved is not None
print(f"shown: {found.proved}")
print(*(f"  {line}" for line in found.proved.claim.lines()), sep="\n")
