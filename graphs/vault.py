"""The key with which the secret arguments of a call are sealed, and what is sealed with it.

A call must run with its real arguments, also days later in another process; and no secret may lie
in the memory file. So what was taken out of arguments is kept beside them, encrypted, and the key
is a file of its own: `rungs/key` in the user's data directory, or what `RUNGS_KEY` names. Whoever
has a copy of the memory file alone has no secret.

The cipher is AES-SIV, made for this: equal arguments are equal when they are sealed, so that
repeated calls are still told, and a nonce can't be misused. Nothing of it is loaded before a
secret is met.
"""

import asyncio
import base64
import binascii
import contextlib
import json
import logging
import os
import secrets
import threading
from pathlib import Path
from typing import Any

from graphs.waiting import Steps, Wait

KEY_BYTES = 64
"""AES-256-SIV takes two keys of 32 bytes."""

_ABOUT = [b"rungs arguments 1"]

logger = logging.getLogger("rungs")


class SealedError(ValueError):
    """What is sealed can't be opened here; one sentence that says why."""


class Vault:
    """Seals plain data as text, and opens it again, with the key of this user."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ciphers: dict[str, Any] = {}

    @property
    def is_ready(self) -> bool:
        """Whether the key in force was read already."""
        return _named() in self._ciphers

    def load(self) -> None:
        """Read the key, or make one where there is none; it reads and writes a file."""
        with self._lock:
            name = _named()
            if name in self._ciphers:
                return
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV

            try:
                key = _key_of(_key_file(name))
            except (OSError, RuntimeError, ValueError) as error:
                logger.warning(
                    "secret arguments can be used in this process alone: the key %s: %s",
                    name or "in your data directory",
                    getattr(error, "strerror", None) or error,
                )
                key = secrets.token_bytes(KEY_BYTES)
            self._ciphers[name] = AESSIV(key)

    def seal(self, value: Any) -> str:
        """Encrypt plain data; equal data is equal text."""
        plain = json.dumps(value, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
        return base64.urlsafe_b64encode(self._cipher().encrypt(plain, _ABOUT)).decode()

    def open(self, sealed: str) -> Any:
        """Decrypt what `seal` returned.

        Raises:
            SealedError: It was sealed with another key, or changed since.
        """
        from cryptography.exceptions import InvalidTag

        try:
            plain = self._cipher().decrypt(base64.urlsafe_b64decode(sealed), _ABOUT)
            return json.loads(plain.decode(errors="surrogatepass"))
        except (InvalidTag, binascii.Error, ValueError):
            raise SealedError(
                "its secret arguments were sealed with a key that is not here (RUNGS_KEY)"
            ) from None

    def _cipher(self) -> Any:
        if not self.is_ready:
            self.load()
        return self._ciphers[_named()]


VAULT = Vault()


def unlocked() -> Steps[Vault]:
    """Return the vault with its key read, away from an event loop."""
    if not VAULT.is_ready:
        yield Wait(VAULT.load, lambda: asyncio.to_thread(VAULT.load))
    return VAULT


def _named() -> str:
    return os.environ.get("RUNGS_KEY", "").strip()


def _key_file(name: str) -> Path:
    if name:
        return Path(name).expanduser().absolute()
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():  # the XDG rules: a relative path is to be ignored
        data = Path.home() / ".local" / "share"
    return data / "rungs" / "key"


def _key_of(file: Path) -> bytes:
    """Read the key, of which all processes of a user have the same, whoever was first to make it.

    Raises:
        OSError: It can't be read or made.
        ValueError: The file holds something else.
    """
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}-{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as new:
                new.write(secrets.token_hex(KEY_BYTES) + "\n")
                new.flush()
                os.fsync(new.fileno())
            with contextlib.suppress(FileExistsError):  # another process was first
                file.hardlink_to(draft)
        finally:
            draft.unlink(missing_ok=True)
    text = file.read_text(encoding="ascii").strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(f"{file} holds no key of {KEY_BYTES} bytes in hexadecimal letters")
    return key
