"""Take out of notebooks what running them puts in.

python -m graphs.notebook.strip FILE...    writes those that held any of it
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All that a notebook says of where it runs."""


def stripped(text: str) -> str:
    """Return a notebook's text without outputs, counts, and metadata of a machine.

    Raises:
        ValueError: It is no JSON.
        TypeError: It is no notebook.
    """
    read = json.loads(text)
    if not (isinstance(read, dict) and isinstance(read.get("cells"), list)):
        raise TypeError("it has no cells")
    without: dict[str, Any] = {"outputs": [], "execution_count": None}
    cells: list[dict[str, Any]] = []
    for cell in read["cells"]:
        if not (isinstance(cell, dict) and "cell_type" in cell):
            raise TypeError("a cell has no type")
        emptied = {**cell, "metadata": {}}
        cells.append({**emptied, **without} if cell["cell_type"] == "code" else emptied)
    whole = {**read, "cells": cells, "metadata": METADATA}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Strip the files; one that is no notebook is left as it is, and the others with it.

    Returns:
        The exit code: 0, 2 where a file can't be read or is no notebook.
    """
    changed: dict[Path, str] = {}
    for name in arguments:
        path = Path(name)
        try:
            text = path.read_text(encoding="utf-8")
            without = stripped(text)
        except (OSError, ValueError, TypeError) as error:
            sys.stderr.write(f"{name} is no notebook that can be read: {error}\n")
            return 2
        if without != text:
            changed[path] = without
    for path, without in changed.items():
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(without, encoding="utf-8")
        draft.replace(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
