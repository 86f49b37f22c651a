"""A place for what a notebook leaves, gone as its kernel ends."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

OWN_FILES = {"RUNGS_DB": "rungs.sqlite", "RUNGS_SHOP": "shop.sqlite", "RUNGS_KEY": "key"}
"""Settings that name a file, and the files of a notebook's own."""


def workplace() -> Path:
    """Make a temporary folder for memory file, demo shop and key, and let all graphs work offline.

    The shipped documents and each variant's own tools are used, whatever the environment says.

    Returns:
        The folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="rungs-notebook-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update({name: str(folder / file) for name, file in OWN_FILES.items()})
    os.environ["RUNGS_MODEL"] = "offline"
    for name in ("RUNGS_DOCS", "RUNGS_TOOLS"):
        os.environ.pop(name, None)
    return folder
