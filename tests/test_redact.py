"""Redaction: credentials go, however they are written; everything else stays."""

import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tools.redact import is_secret_name, redact, redact_data, redact_result

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq83v\n-----END RSA PRIVATE KEY-----"
LETTERS = "a1B2c3D4e5F6" * 3
PROVIDER_KEYS = [
    *(f"gsk_{LETTERS}", f"xai-{LETTERS}", f"tvly-dev-{LETTERS}", f"pplx-{LETTERS}"),
    *(f"lsv2_pt_{'a1b2' * 8}_{'c3d4' * 2}", f"shpat_{'a1b2' * 8}", f"dop_v1_{'a1b2' * 16}"),
    *(f"lin_api_{LETTERS}", f"r8_{LETTERS}", f"AGE-SECRET-KEY-1{'QZ2A' * 14}"),
]
TELEGRAM = f"1234567890:AA{LETTERS[:33]}"
SLACK = "hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/a1B2c3D4e5F6g7"
DISCORD = f"discord.com/api/webhooks/123456789012345678/{LETTERS}_-x"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("use sk-proj-abc123DEF456 now", "use [redacted] now"),
        ("sk-live-9", "[redacted]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("ghp_" + "a1" * 18, "[redacted]"),
        ("github_pat_" + "a1" * 18, "[redacted]"),
        ("xoxb-123456789-abcdef", "[redacted]"),
        ("sk_live_4eC39HqLyjWDarjtT1", "[redacted]"),
        *((f"use {key} now", "use [redacted] now") for key in PROVIDER_KEYS),
        (f"x.example/bot{TELEGRAM}/getMe", "x.example/bot[redacted]/getMe"),
        (f"post to https://{SLACK}.", "post to https://[redacted]."),
        (f"post to https://{DISCORD} now", "post to https://[redacted] now"),
        (f"jwt {JWT}.", "jwt [redacted]."),
        (f"a {PEM} b", "a [redacted] b"),
        (PEM[:60], "[redacted]"),
        ("Authorization: Bearer abc.DEF-123", "Authorization: Bearer [redacted]"),
        ("authorization=Basic dXNlcjpwYXNz", "authorization=Basic [redacted]"),
        ("curl -H 'X-Api-Key: abcdefgh1'", "curl -H 'X-Api-Key: [redacted]'"),
        ("Cookie: sid=abc; theme=dark", "Cookie: [redacted]"),
        ("postgres://ann:s3cret@db/x", "postgres://ann:[redacted]@db/x"),
        ("https://x.example/?key=sk-live-9", "https://x.example/?key=[redacted]"),
        ("https://x.example/?a=1&token=abc&b=2", "https://x.example/?a=1&token=[redacted]&b=2"),
        ("https://x.example/?sig=ab%2Fcd", "https://x.example/?sig=[redacted]"),
        ("key=sk-live-9", "key=[redacted]"),
        ("password=hunter", "password=[redacted]"),
        ("PGPASSWORD=hunter psql", "PGPASSWORD=[redacted] psql"),
        ("export API_KEY='abc'", "export API_KEY='[redacted]'"),
        ("password: hunter2", "password: [redacted]"),
        ("the password: hunter2, and go", "the password: [redacted], and go"),
        ("a: 1\n  secret: hush\nb: 2", "a: 1\n  secret: [redacted]\nb: 2"),
        ('{"password": "hun\\"ter", "a": 1}', '{"password": "[redacted]", "a": 1}'),
        ('{"apiKey":"abc","n":1}', '{"apiKey":"[redacted]","n":1}'),
        ("{'client_secret': 'abc'}", "{'client_secret': '[redacted]'}"),
        (
            json.dumps(json.dumps({"token": "abc", "n": 1})),
            json.dumps(json.dumps({"token": "[redacted]", "n": 1})),
        ),
        ('{"password": "cut off he', '{"password": "[redacted]'),
        ("<token>abc</token>", "<token>[redacted]</token>"),
        ("PassWord: hunter2", "PassWord: [redacted]"),
        ("pAsSwOrD: hunter2 and", "pAsSwOrD: [redacted] and"),
        ("API key: 8f3a9900", "API key: [redacted]"),
        ("mysql --password hunter2 -u ann", "mysql --password [redacted] -u ann"),
        ("gh --api-key 'abc def1' x", "gh --api-key '[redacted]' x"),
        ("Connect -Token abc123", "Connect -Token [redacted]"),
        ("My password is hunter2.", "My password is [redacted]."),
        ("The password is: hunter2!", "The password is: [redacted]!"),
        ("the password was changed to hunter2", "the password was changed to [redacted]"),
        ("Your passcode is 4821, so", "Your passcode is [redacted], so"),
        ('Her API key is "8f3a9 9"', 'Her API key is "[redacted]"'),
        ("sshpass -p hunter ssh x", "sshpass -p [redacted] ssh x"),
        ("docker login -u ann -p hunter2", "docker login -u ann -p [redacted]"),
        ("mysqldump -uann -phunter2 shop", "mysqldump -uann -p[redacted] shop"),
        ("curl -s -u ann:hunter2 x", "curl -s -u ann:[redacted] x"),
    ],
)
def test_a_credential_is_replaced_and_what_is_around_it_stays(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The key to a good refund is patience; a token of thanks is no secret.",
        "The secret: patience. The key: press Enter. Passwords: how to reset them",
        "task-related, risk-free, ask-me-anything, sk-learn",
        "the bearer of this letter, basic arithmetic",
        "sorted(rows, key=len); max(rows, key=lambda row: row.n)",
        "max_tokens=4000, input_tokens: 1234, token_count=7",
        '{"usage": {"input_tokens": 12, "total_tokens": 34}, "token_type": "bearer"}',
        '{"next_page_token": "CAUQAA", "nextPageToken": "CAUQAA"}',
        '{"key": "value", "primary_key": "id", "keyboard": "qwerty"}',
        "token = get_token()\npassword: str = Field()\nsecret: None",
        "https://x.example/a?page=2#key ssh://git@x.example:22/a",
        "2026-01-02T03:04:05 user@x.example 10:30",
        "--password is required, and --token takes a name; a password is 12 characters long",
        "The API key is 32-character text. The token is valid for 3600 seconds. password hunter",
        "login --password $PASSWORD --token <token> --secret ${SECRET_1}",
        "mkdir -p a1/b2; ssh -p 2222 x; docker run -u 1000:1000 -p 8080:80 x; psql -U ann -p 5432",
        "To reset your password, open Settings, then\nchoose Reset, wait, and try again2, or call.",
        "Token, key, secret.\nThese, I think, are, bad9",
        "token, E-4042 and secret, the\nthe, end",
        "name,credentials\nAnn,MSc\nBob,B.A.\n",
        "| Reset password | Steps |\n|---|---|\n| by e-mail | open 2FA9 |",
        "| token | meaning |\n|---|---|\n| the | an article |\n| <s> | start |",
        "| user | password |\n|---|---|\n| required | yes |\n| ann | at least 12 signs |",
        "| user | password |\n|---|---|\n| ann | ask your manager<br>or reset it |",
        "| Password | the password of the user |",
        "| Passwort | mindestens 12 Zeichen |",
        "user,password\nann,expires after 90 days\nbob,never changed\n",
        "Username\nPassword\nLogin\nForgot password?",
        "Password\nChoose Reset99 in the menu.",
        "username\npassword\nline2\n",
        "The columns are name, password\nand role2, in this order.",
        "gsk_build, xai-tools, tvly-search-results-page, r8_x, at 12345678:30, lin_api_docs",
    ],
)
def test_what_is_no_credential_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


OTHER_LANGUAGES = [
    ("La contraseña: hunter2 y más", "La contraseña: [redacted] y más"),
    ("CONTRASEÑA=luna", "CONTRASEÑA=[redacted]"),
    ("contrasen\u0303a: hunter2 y", "contrasen\u0303a: [redacted] y"),
    ("Mot de passe : hunter2, merci", "Mot de passe : [redacted], merci"),
    ("mot_de_passe=lune", "mot_de_passe=[redacted]"),
    ("Passwort: hunter2, danke", "Passwort: [redacted], danke"),
    ("Das Kennwort ist hunter2.", "Das Kennwort ist [redacted]."),
    ("Benutzerpasswort = mond", "Benutzerpasswort = [redacted]"),
    ("a senha é hunter2!", "a senha é [redacted]!"),
    ("hasło: hunter2", "hasło: [redacted]"),
    ("wachtwoord: maan", "wachtwoord: [redacted]"),
    ("ПАРОЛЬ=луна", "ПАРОЛЬ=[redacted]"),
    ("пароль: hunter2, и", "пароль: [redacted], и"),
    ("密码\uff1ahunter2\uff0c谢谢", "密码\uff1a[redacted]\uff0c谢谢"),
    ("我的登录密碼是hunter2。", "我的登录密碼是[redacted]。"),
    ("パスワード: hunter2。", "パスワード: [redacted]。"),
    ("x.example/?a=1&contrase%C3%B1a=luna&b=2", "x.example/?a=1&contrase%C3%B1a=[redacted]&b=2"),
    ("deploy --contraseña hunter2 -v", "deploy --contraseña [redacted] -v"),
    ('{"contrase\\u00f1a": "luna", "n": 1}', '{"contrase\\u00f1a": "[redacted]", "n": 1}'),
]


@pytest.mark.parametrize(("text", "left"), OTHER_LANGUAGES)
def test_a_password_is_known_by_its_name_in_other_languages(text: str, left: str) -> None:
    assert redact(text) == left
    assert redact(left) == left


NAMES = [
    *("contraseña", "nuevaContraseña", "mot de passe", "mot_de_passe", "motDePasse", "Passwort"),
    *(
        "DB_KENNWORT",
        "senha",
        "密码",
        "登录密码",
        "密碼",
        "пароль",
        "パスワード",
        "hasło",
        "wachtwoord",
    ),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_with_a_name_in_another_language_is_hidden_in_data_and_in_json(name: str) -> None:
    assert is_secret_name(name)
    for value in ({name: "luna", "n": 1}, {"rows": [{name: "luna", "n": 1}]}):
        clean = json.loads(json.dumps(value).replace("luna", "[redacted]"))
        assert redact_data(value) == clean
        for ascii_only in (True, False):
            text = json.dumps(value, ensure_ascii=ascii_only)
            assert json.loads(redact_result(text)) == clean
            assert json.loads(redact(text)) == clean


@pytest.mark.parametrize(
    "text",
    [
        "Passwort vergessen? Klicken Sie hier. Das Passwort: Sicherheit beginnt bei Ihnen.",
        "Das Passwort ist 12-stellig. Passwort: ändern Sie es jetzt, und prüfen Sie Ihr Konto.",
        "La contraseña es importante. Contraseña: próxima página, o pida ayuda.",
        "Le mot de passe est requis; mot de passe : au moins 12 caractères, voir la page 3.",
        "A senha é pessoal. O artista desenha: casa12345, sol e mar.",
        "Hasło: zmień je teraz, proszę. Wachtwoord vergeten: klik hier en volg de stappen.",
        "пароль: сначала войдите, потом смените",
        "密码是8位数字。忘记密码\uff1f请联系客服。密码\uff1a请在设置中修改。",
        "パスワードは8文字以上です。パスワード: 設定で変更してください。",
        '{"passwortlänge": "12", "desenha": "casa", "contraseñas": 3}',
    ],
)
def test_prose_that_mentions_a_password_in_another_language_stays(text: str) -> None:
    assert redact(text) == text
    assert redact_result(text) == text


TABLES = [
    ("| user | password |\n|---|---|\n| ann | hunter2 |\n| bob | {} |", "| user | password |"),
    ("email,password\na@b,{}\nc@d,{}\n", "email,password"),
    ("email;DB_PASSWORD\r\na@b;{}\r\n\r\nend", "a@b;[redacted]\r\n\r\nend"),
    ("password\temail\n{}\ta@b", "[redacted]\ta@b"),
    ('name,"password",n\nann,"{},2",3', 'ann,"[redacted]",3'),
    ("| Setting | Value |\n|--|--|\n| API key | {} |\n| Length | 12 |", "| Length | 12 |"),
    ("token | n\n--- | ---\n{} | 2", "[redacted] | 2"),
    ("nombre;contraseña\nann;{}\n", "ann;[redacted]"),
    ("| 用户 | 密码 |\n|---|---|\n| ann | {} |", "| ann | [redacted] |"),
    ("\npassword\nluna\n{}\n\nThe end", "\npassword\n[redacted]\n[redacted]\n\nThe end"),
    ('```csv\n"DB_PASSWORD"\r\n"{} a"\r\n```', '"[redacted]"\r\n```'),
    ("api_key\n{}\n", "api_key\n[redacted]\n"),
    ("| password |\n|---|\n| {} |\n\nend", "| [redacted] |\n\nend"),
    ('name,password,n\nann,"{}\nb""c,2",3\nbob,x,4\n', 'ann,"[redacted]",3\nbob,[redacted],4'),
    ('note,password\n"a\nb",{}\nc,d\n', '"a\nb",[redacted]\nc,[redacted]'),
    ("| user | password |\n|--|--|\n| ann | {}<br>luna 2 |", "| ann | [redacted] |"),
    ("| user | password |\n|--|--|\n| a | luna<br />{} |\n| b | c |", "| b | [redacted] |"),
    ("user,password\nann,correct horse {} staple\n", "ann,[redacted]\n"),
    ("| user | Passwort |\n|--|--|\n| ann | lila {} mond |", "| ann | [redacted] |"),
    ("| Mot de passe | lune {} verte claire |", "| Mot de passe | [redacted] |"),
    (" user | password\n------+----------\n ann  | {}\n(1 row)", " ann  | [redacted]\n(1 row)"),
    (
        "+-----+----------+\n| user | password |\n+-----+----------+\n| ann | {} |\n+-----+--+\n",
        "| ann | [redacted] |\n+-----+--+\n",
    ),
]


@pytest.mark.parametrize(("table", "left"), TABLES)
def test_what_stands_below_or_beside_a_secret_name_in_a_table_goes(table: str, left: str) -> None:
    clean = redact(f"Here:\n{table.replace('{}', 'hunter2x')}")
    assert "hunter2x" not in clean
    assert left in clean
    assert redact(clean) == clean


MARKED = [
    ("**Password:** {}", "**Password:** [redacted]"),
    ("- **API key**: {}\n- next", "- **API key**: [redacted]\n- next"),
    ("* *Password:* {}", "* *Password:* [redacted]"),
    ("__Password:__ {}", "__Password:__ [redacted]"),
    ("1. **`DB_PASSWORD`** = `{}`", "1. **`DB_PASSWORD`** = `[redacted]`"),
    ("## **Token**:\n{}\n", "## **Token**:\n[redacted]\n"),
    ("use **password:** {}, then go", "use **password:** [redacted], then go"),
    ("**Password:** **{}**.", "**Password:** **[redacted]**."),
    ("**Passwort**: {}", "**Passwort**: [redacted]"),
    ("<b>Token:</b> {}", "<b>Token:</b> [redacted]"),
    ("<li><strong>Token</strong>: {}</li>", "<li><strong>Token</strong>: [redacted]</li>"),
    (
        '<p>Password: <code class="x">{}</code></p>',
        '<p>Password: <code class="x">[redacted]</code></p>',
    ),
    ("<td>Password</td><td>{}</td>", "<td>Password</td><td>[redacted]</td>"),
    ("<th>Password</th>\n  <td>{}</td>", "<th>Password</th>\n  <td>[redacted]</td>"),
    ("<dt>API key</dt><dd>{}</dd>", "<dt>API key</dt><dd>[redacted]</dd>"),
    ('<input name="password" value="{}">', '<input name="password" value="[redacted]">'),
    ("<input value='{} a' type='password'/>", "<input value='[redacted]' type='password'/>"),
    ('<add key="ApiKey" value="{}" />', '<add key="ApiKey" value="[redacted]" />'),
    ('<meta name="csrf-token" content="{}">', '<meta name="csrf-token" content="[redacted]">'),
    ("Password (admin): {}", "Password (admin): [redacted]"),
    ("the password (of ann): {}, and", "the password (of ann): [redacted], and"),
    ("password: |\n  {}\nuser: ann", "password: |\n  [redacted]\nuser: ann"),
    (
        "db:\n  password: >-\n    {}\n\n    more\n  user: ann",
        "db:\n  password: >-\n    [redacted]\n  user: ann",
    ),
    ("- secret: |2 # x\r\n    {}\r\n- a: 1", "- secret: |2 # x\r\n    [redacted]\r\n- a: 1"),
    ('{"password":\n      "{}"\n}', '{"password":\n      "[redacted]"\n}'),
    ('{"password"     :     "{}"}', '{"password"     :     "[redacted]"}'),
]


@pytest.mark.parametrize(("text", "left"), MARKED)
@pytest.mark.parametrize("before", ["", "Here:\n", "Here it is.\n\n"])
def test_markup_and_line_ends_keep_no_secret_from_its_name(
    text: str, left: str, before: str
) -> None:
    clean = redact(before + text.replace("{}", "hunter2x"))
    assert clean == before + left
    assert redact(clean) == clean


@pytest.mark.parametrize("secret", ["hunter", "x"])
def test_a_word_alone_on_its_line_behind_an_emphasized_name_goes(secret: str) -> None:
    for line in ("**Password:** {}", "- **API key**: {}", "<b>Token:</b> {}", "Password (ann): {}"):
        text = f"{line.format(secret)}\nend"
        assert redact(text) == line.format("[redacted]") + "\nend"


@pytest.mark.parametrize(
    "text",
    [
        "**Password:** must have 12 characters. **Token:** a unit of text.",
        "- **Token**: what a model reads\n- **API key** (optional): ask your manager",
        "- `token`: `string`\n- `password` (str): The password.\n- **Secret:** Required\n",
        "**Passwords**\n\n- reset99 them\n\n**Token:**\n\nThe token2 is a word.",
        "<td>Password</td><td>Role</td>\n<th>Token</th><th>Meaning9</th>",
        '<label>Password:</label> <input name="password" type="password"> <button>Log-in</button>',
        '<input name="user" value="ann"> <input type="password" value="">',
        "| Password: |\n  and more2\n",
        "password: |\nuser: ann",
        "The secret (as ever): patience, and the key (to it): work.",
        "*Token* counts, **secret** sauce, `password` fields and <b>cookie</b> recipes9",
    ],
)
def test_markup_about_a_word_alone_hides_nothing(text: str) -> None:
    assert redact(text) == text


def test_tables_as_lists_and_named_values_lose_what_their_names_hide() -> None:
    table = [["email", "password"], ["a@b", "hunter"], ["c@d", None]]
    clean = [["email", "password"], ["a@b", "[redacted]"], ["c@d", None]]
    assert redact_data({"rows": table}) == {"rows": clean}
    assert json.loads(redact_result(json.dumps(table))) == clean
    apart = {"columns": ["user", {"name": "password"}], "rows": [["ann", "hunter"], ["bob", ""]]}
    rows = [["ann", "[redacted]"], ["bob", ""]]
    assert json.loads(redact_result(json.dumps(apart))) == {**apart, "rows": rows}
    named = [{"name": "DB_PASSWORD", "value": "hunter"}, {"name": "COLOR", "value": "red"}]
    assert json.loads(redact_result(json.dumps(named))) == [
        {"name": "DB_PASSWORD", "value": "[redacted]"},
        {"name": "COLOR", "value": "red"},
    ]


def test_what_stands_as_a_value_below_a_secret_name_in_data_goes() -> None:
    data = {"password": {"v": "hunter", "expires": "never"}, "token": {"value": {"raw": "hunter"}}}
    clean = json.loads(json.dumps(data).replace("hunter", "[redacted]"))
    assert redact_data(data) == clean
    assert json.loads(redact_result(json.dumps(data))) == clean
    schema = {"properties": {"password": {"type": "string", "description": "At least 12 signs"}}}
    assert redact_data(schema) == schema
    token = {"token": {"text": "the", "lemma": "the"}}
    assert redact_data(token) == token


SHIPPED = [
    *Path("tools").rglob("*.md"),
    *Path("prompts").glob("*.md"),
    *Path("tools").rglob("*.toml"),
]


@pytest.mark.parametrize("file", SHIPPED, ids=str)
def test_the_shipped_texts_hold_nothing_to_hide(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert redact(text) == text


words = st.sampled_from(
    [
        *("the", "a", "key", "token", "secret", "password", "api", "order", "refund", "of", "and"),
        *("for", "bearer", "basic", "ask-me", "E-4042", "session", "cookie", "author"),
    ]
)
endings = st.sampled_from([" ", ", ", ". ", "; ", "! ", "? ", "\n", " - ", " (", ") "])


@settings(deadline=None)
@given(st.lists(st.tuples(words, endings), max_size=40))
def test_clean_prose_is_untouched(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + end for word, end in parts)
    assert redact(text) == text


pieces = st.sampled_from(
    [
        *("password", "token", "key", "api_key", "Authorization", "Cookie", "secret", "max_tokens"),
        *("=", ": ", ":", '"', "'", "\\", " ", "\n", "&", "?", "://", "@", "/", ",", "{", "}", ">"),
        *(
            "Bearer ",
            "Basic ",
            "sk-live-9",
            "hunter2",
            "abc",
            "[redacted]",
            JWT,
            "[",
            "]",
            "(",
            ")",
        ),
        *(
            " is ",
            " was ",
            "--",
            "-p ",
            "-u ",
            "curl ",
            "|",
            "\t",
            ";",
            "email,password\n",
            "|-|\n",
        ),
    ]
)


@settings(deadline=None)
@given(st.lists(pieces | st.text(max_size=5), max_size=25).map("".join))
@example(f"a {PEM} b")
@example("://password://00;@")
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


secrets = st.text(string.ascii_letters + string.digits, min_size=3, max_size=20).map("X9".__add__)


@settings(deadline=None)
@given(secrets, st.sampled_from(["password", "apiKey", "X-Api-Key", "client_secret", "auth_token"]))
def test_no_secret_value_survives_in_any_usual_notation(secret: str, name: str) -> None:
    for text in (
        f"{name}={secret}",
        f"{name}: {secret}",
        f"https://x.example/?a=1&{name}={secret}&b=2",
        json.dumps({"a": 1, name: secret}),
        json.dumps({"a": [{"b": 1, name: secret}]}, indent=2),
        repr({name: secret}),
        f'{name} = "{secret}"',
    ):
        assert secret not in redact(text)


def test_text_with_a_lone_surrogate_is_redacted_too() -> None:
    assert redact("\ud83c password=hunter2") == "\ud83c password=[redacted]"


def test_a_long_line_of_one_letter_takes_no_more_than_linear_work() -> None:
    for unit in (
        "a",
        "key",
        "token",
        "password:",
        "sk-",
        "Bearer ",
        "://a:",
        '"password": "',
        "\\",
        "password,",
        "password|1\n",
        "a,password\n",
        "-password ",
        "password is ",
        "mysql -p",
        "curl -u a:",
        "-u a ",
        "contraseña: ",
        "密码是",
        "password\na\n\n",
        'password,n\n"a,',
        'password,n\n"""a\n',
        'password,n\n""',
        "password,n\n<br>",
        "**password:** ",
        "password: |\n ",
        "password:*",
        "password (a",
        "<b>password:</b>",
        "<input name='password' value='",
        '"password"  :  ',
        "<input ",
        "bob%40",
        "12345678:",
    ):
        redact(unit * 20_000)


def test_data_loses_what_secret_names_stand_for_at_every_level() -> None:
    data: dict[str, Any] = {
        "user": "ann",
        "password": "hunter",
        "pin_passcode": 1234,
        "auth": [{"api_key": "abc", "n": 1}],
        "tokens": 5,
        "token": None,
        "secrets": ["a", "b"],
        "note": "see https://x.example/?token=abc",
        "ok": True,
    }
    before = json.dumps(data)
    assert redact_data(data) == {
        "user": "ann",
        "password": "[redacted]",
        "pin_passcode": "[redacted]",
        "auth": [{"api_key": "[redacted]", "n": 1}],
        "tokens": 5,
        "token": None,
        "secrets": ["[redacted]", "[redacted]"],
        "note": "see https://x.example/?token=[redacted]",
        "ok": True,
    }
    assert json.dumps(data) == before


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in ("password", "DB_PASSWORD", "apiKey", "api-key", "X-Api-Key")),
        *((name, True) for name in ("accessToken", "token", "aws_secret_access_key", "smtp_pass")),
        *(
            (name, False)
            for name in ("key", "tokens", "max_tokens", "token_count", "nextPageToken")
        ),
        *((name, False) for name in ("author", "passage", "secretary", "primary_key", "pass")),
    ],
)
def test_secret_names_are_told_from_counts_cursors_and_other_words(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize("sign", [" ", "-", ".", "\u00a0", "\u202f", "\u2011", "\u2013", "\u2212"])
def test_a_card_number_is_taken_out_whatever_stands_between_its_groups(sign: str) -> None:
    assert "1111" not in redact(f"paid by {sign.join(['4111', '1111', '1111', '1111'])} today")


@pytest.mark.parametrize("name", ["PassWord", "passWord", "Pass_Word"])
def test_a_password_is_known_however_its_name_is_spelled(name: str) -> None:
    assert "hunter2" not in str(redact_data({name: "hunter2zzq"}))


def test_a_secret_that_is_a_name_in_data_is_taken_out() -> None:
    key = "sk-live-9f8e7d6c5b4a3"
    assert key not in str(redact_data({key: {key: [1, {key: "x"}]}}))
