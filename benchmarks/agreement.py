"""How far the URLs in a file are those of a workload: `python -m benchmarks.agreement DATA LETTER FILE` prints it as JSON.

FILE has rows as JSON lines, or, if its name does not say so, a URL in each line.
"""

import json
import sys
from pathlib import Path

from benchmarks import workloads


def main() -> None:
    data, letter, path = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    found = set()
    if path.exists():
        with path.open() as file:
            found = {json.loads(line)["url"] if path.suffix == ".jsonl" else line.rstrip("\n") for line in file}
    listed = set(workloads.listed_urls(data, letter))
    print(json.dumps({"missing": len(listed - found), "extra": len(found - listed)}))


if __name__ == "__main__":
    main()
