"""The tests, flat, named after what they check."""

import os
import tempfile
from pathlib import Path

# A test that meets a secret argument must not make a key in the home of who runs it.
os.environ["RUNGS_KEY"] = str(Path(tempfile.gettempdir()) / f"rungs-tests-{os.getuid()}" / "key")
