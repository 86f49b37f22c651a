r"""What a password is called in other languages, however a text spells the letters.

`contraseña` also stands as `CONTRASEÑA`, `contrasena`, in JSON as `contrase\u00f1a`, in a query
as `contrase%C3%B1a`, and with its tilde as a sign of its own.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, unquote

UNSPACED = ("密码", "密碼", "口令", "パスワード", "비밀번호")
"""Those of languages that put no spaces between words."""

_ENDINGS = (
    *("passwort", "kennwort", "wachtwoord", "lösenord", "passord", "adgangskode", "salasana"),
    *UNSPACED,
)
"""Also at the end of a longer word: `Benutzerpasswort`, `登录密码`."""

_WORDS = (
    *("contraseña", "mot_de_passe", "mdp", "senha", "palavra_passe", "пароль", "hasło", "heslo"),
    *("jelszó", "şifre", "lozinka", "mật_khẩu", "kata_sandi", "كلمة_المرور", "كلمة_السر", "סיסמה"),
)
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")


def _letter(letter: str) -> str:
    """Return a pattern of a letter in every spelling."""
    if letter == "_":
        return "[ _-]?"
    if letter.isascii():
        return letter
    apart = unicodedata.normalize("NFD", letter)
    plain = "l" if letter == "ł" else apart[0]
    cases = (letter, letter.upper())
    escaped = {rf"\\+u{ord(case):04x}" for case in cases}
    escaped |= {quote(case).lower() for case in cases}
    return f"(?:{'|'.join([letter, *sorted(escaped), *sorted({apart, plain} - {letter})])})"


def _pattern(words: tuple[str, ...]) -> str:
    return "|".join("".join(map(_letter, word)) for word in words)


WORDS = f"(?:{_pattern((*_ENDINGS, *_WORDS))})"
"""A pattern of the words in lower case, wherever they stand in a text."""

_IS_ONE = re.compile(
    f"(?:{_pattern(_ENDINGS)}|(?:^|_)(?:{_pattern(_WORDS)}))(?:_value|_hash|_[0-9]+)?$"
)


def composed(name: str) -> str:
    """Spell a name in composed letters; names in ASCII come back as they are."""
    if "\\u" in name:
        name = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)
    if "%" in name:
        name = unquote(name)
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def is_password(plain: str) -> bool:
    """Whether a name, as `plain_name` spells it, is one of a password."""
    return _IS_ONE.search(plain) is not None
