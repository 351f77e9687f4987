"""Person files to a file of sums: ``python -m collab_core.census data/2024/1-Year --out x.npz``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .records import files_in
from .sums import sums_of_files


def main(arguments: Sequence[str] | None = None) -> int:
    """Add up files or folders of person records, and write the sums."""
    parser = argparse.ArgumentParser(prog="python -m collab_core.census", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="PUMS person files, or folders of them")
    parser.add_argument("--out", required=True, type=Path, help="the .npz file to write")
    given = parser.parse_args(arguments)
    try:
        paths = [
            file for path in given.paths for file in (files_in(path) if path.is_dir() else [path])
        ]
        sums = sums_of_files(paths, given.out.stem)
    except (ValueError, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    sums.save(given.out)
    print(f"{sums.people:,} people of {len(sums.states)} states, {len(sums.features)} features")
    if sums.absent:
        print(f"not in these files: {', '.join(sums.absent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
