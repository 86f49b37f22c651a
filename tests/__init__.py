"""The tests, flat, named after what they check."""

import os
import signal
import tempfile
from pathlib import Path

# A test that meets a secret argument must not make a key in the home of who runs it.
os.environ["RUNGS_KEY"] = str(Path(tempfile.gettempdir()) / f"rungs-tests-{os.getuid()}" / "key")

# A shell without job control has what it starts with `&` ignore Ctrl-C, and so would every command
# that a test starts and stops: it would run on for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
