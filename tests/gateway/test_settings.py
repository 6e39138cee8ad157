"""Settings: what the environment may say, and what it is told when it says something else."""

import os
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from secrets import token_hex, token_urlsafe

import pytest

from gateway.settings.settings import Settings, SettingsError, describe_settings, variable_of
from gateway.settings.values.secret_strength import is_guessable

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
SECRET = "k" * 32
STRONG = "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA"
PRODUCTION = {
    "DUOGRAPH_ENV": "production",
    "DUOGRAPH_SECRET_KEY": STRONG,
    "DUOGRAPH_BASE_URL": "https://shop.example.com/api",
}


def test_every_setting_is_documented_with_its_default_and_description() -> None:
    settings = [setting for _, of_topic in describe_settings() for setting in of_topic]
    rows = [
        f"| `{setting.variable}` | {f'`{setting.default}`' if setting.default else ''} | {setting.text} |"
        for setting in settings
    ]
    assert {setting.variable for setting in settings} == set(map(variable_of, Settings.model_fields))
    assert all(setting.text for setting in settings)
    assert [line for line in PAGE.read_text().splitlines() if line.startswith("| `")] == rows


def test_nothing_has_to_be_set() -> None:
    settings = Settings.from_environ({})
    assert settings.database_url == "sqlite+aiosqlite:///var/duograph.sqlite"
    assert settings.base_url == "http://localhost:8000/api"
    assert settings.sign_in_url == "http://localhost:8000"


def test_an_empty_variable_is_as_if_unset() -> None:
    settings = Settings.from_environ({"DUOGRAPH_REDIS_URL": "", "DUOGRAPH_RATE_LIMIT": ""})
    assert (settings.redis_url, settings.rate_limit) == (None, 500)


def test_what_is_set_wins_over_a_default_of_the_command() -> None:
    environ = {"DUOGRAPH_BASE_URL": "https://shop.example.com/api/"}
    settings = Settings.from_environ(environ, base_url="http://127.0.0.1:9000/api", log_format="json")
    assert settings.base_url == "https://shop.example.com/api"
    assert settings.sign_in_url == "https://shop.example.com"
    assert settings.log_format == "json"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("postgresql://ada@db/duograph", "postgresql+asyncpg://ada@db/duograph"),
        ("postgres://ada@db/duograph", "postgresql+asyncpg://ada@db/duograph"),
        ("postgresql+asyncpg://ada@db/duograph", "postgresql+asyncpg://ada@db/duograph"),
        ("postgresql://ada@db/shop?sslmode=require", "postgresql+asyncpg://ada@db/shop?ssl=require"),
        ("postgresql://ada@/shop?host=/run", "postgresql+asyncpg://ada@/shop?host=/run"),
        ("sqlite:///var/other.sqlite", "sqlite+aiosqlite:///var/other.sqlite"),
        ("sqlite:////srv/other.sqlite", "sqlite+aiosqlite:////srv/other.sqlite"),
    ],
)
def test_a_database_address_needs_no_driver(given: str, kept: str) -> None:
    assert Settings.from_environ({"DUOGRAPH_DATABASE_URL": given}).database_url == kept


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("DATABASE_URL", "mysql://ada:hush@db/duograph", "it should begin with sqlite:/// or postgresql://"),
        ("DATABASE_URL", "sqlite://", "SQLite needs a file that connections share"),
        ("DATABASE_URL", "sqlite:///:memory:", "SQLite needs a file that connections share"),
        ("DATABASE_URL", "postgresql://ada:hush@db:many/shop", "its port should be a number"),
        ("DATABASE_URL", "postgresql://ada@db/shop?hush=1", "its parameters can be host, passfile, "),
        ("DATABASE_URL", "postgresql://ada:hush@db:70000/shop", "its port should be a number up to 65535"),
        ("DATABASE_READ_URL", "postgresql://ada:x@[::1/hush", "its port should be a number"),
        ("DATABASE_POOL_SIZE", "0", "Input should be greater than or equal to 1"),
        ("ENV", "staging", "Input should be 'development' or 'production'"),
        ("OBJECT_STORE", "gs://bucket", "it should be a directory, or s3://"),
        ("RATE_LIMIT", "many", "Input should be a valid integer"),
        ("SECRET_KEY", "hush", "it should have 32 characters or more"),
        ("TRUSTED_PROXIES", "10.0.0.1/8", "'10.0.0.1/8' is not a network"),
        ("SMTP_URL", "mail.example.com:hush", "it should begin with smtp:// or smtps:// and a host"),
        ("SMTP_URL", "smtp://ada:hush@mail:many", "its port should be a number up to 65535"),
        ("SMTP_URL", "smtp://ada:hush@mail/inbox", "nothing should follow its host and port"),
        ("MAIL_FROM", "Duograph", "it should be an address, like Duograph <duograph@example.com>"),
        ("MAIL_RATE", "0", "Input should be greater than or equal to 1"),
        ("LOG_FORMAT", "xml", "Input should be 'console' or 'json'"),
        ("BASE_URL", "shop.example.com/api", "it should begin with http:// or https://"),
        ("REDIS_URL", "127.0.0.1:6379", "it should begin with redis://"),
        ("REDIS_URL", "redis://:hush/hush@127.0.0.1", "in a password, write / ? # : @ as %2F"),
        ("S3_SECRET_ACCESS_KEY", "hush", "it goes with DUOGRAPH_S3_ACCESS_KEY_ID: set both or neither"),
        ("CLAMD_URL", "http://hush:3310", "it should be tcp://HOST:PORT or unix:///PATH"),
        ("CLAMD_URL", "tcp://scanner:hush", "it should be tcp://HOST:PORT or unix:///PATH"),
        ("ROW_QUOTAS", "events=9007199254740992", "events can be at most 9007199254740991"),
        ("DATABSE_URL", "", "is not a setting: correct its name or unset it."),
    ],
)
def test_what_cannot_be_used_is_named_and_never_repeated_where_it_may_be_secret(
    name: str, value: str, reason: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.from_environ({f"DUOGRAPH_{name}": value})
    said = str(refused.value)
    assert said.startswith(f"DUOGRAPH_{name} ")
    assert reason in said
    assert "hush" not in said


@pytest.mark.parametrize("given", ["10.0.0.0/8, 2001:db8::/32", ["10.0.0.0/8", "2001:db8::/32"]])
def test_networks_of_webhooks_are_a_text_or_a_list(given: str | list[str]) -> None:
    networks = Settings.model_validate({"webhook_allow": given}).webhook_allow
    assert networks == (IPv4Network("10.0.0.0/8"), IPv6Network("2001:db8::/32"))


def test_production_needs_a_secret_of_its_own() -> None:
    with pytest.raises(SettingsError, match="DUOGRAPH_SECRET_KEY is not set: production needs a key"):
        Settings.from_environ({"DUOGRAPH_ENV": "production"})
    assert Settings.from_environ(PRODUCTION).secret() == STRONG.encode()


@pytest.mark.parametrize(
    "secret",
    [
        "a" * 32,
        "changemechangemechangemechangeme",
        "please-change-this-secret-key-here!!",
        "abcdefghijklmnopqrstuvwxyz012345",
        "0123456789abcdef0123456789abcdef",
        "password12345password54321password",
        "abababababababababababababababab",
    ],
)
def test_production_refuses_a_secret_that_can_be_guessed(secret: str) -> None:
    with pytest.raises(SettingsError, match="DUOGRAPH_SECRET_KEY can be guessed: ") as refused:
        Settings.from_environ(PRODUCTION | {"DUOGRAPH_SECRET_KEY": secret})
    assert secret not in str(refused.value)


@pytest.mark.parametrize("make", [lambda: token_hex(16), lambda: token_hex(32), lambda: token_urlsafe(24)])
def test_a_random_secret_is_never_taken_for_one_that_can_be_guessed(make: Callable[[], str]) -> None:
    assert not [secret for secret in (make() for _ in range(2_000)) if is_guessable(secret)]


@pytest.mark.parametrize("name", ["DUOGRAPH_BASE_URL", "DUOGRAPH_AUTH_URL"])
def test_production_refuses_addresses_that_show_passwords_to_the_network(name: str) -> None:
    exposed = PRODUCTION | {name: "http://shop.example.com"}
    with pytest.raises(SettingsError, match=f"{name} is an http address, .* DUOGRAPH_INSECURE_HTTP=true"):
        Settings.from_environ(exposed)
    allowed = Settings.from_environ(exposed | {"DUOGRAPH_INSECURE_HTTP": "true"})
    assert allowed.sign_in_url.startswith("http")


def test_production_does_not_guess_its_own_address() -> None:
    silent = {name: value for name, value in PRODUCTION.items() if name != "DUOGRAPH_BASE_URL"}
    for environ in (silent, silent | {"DUOGRAPH_INSECURE_HTTP": "true"}):
        with pytest.raises(SettingsError, match="DUOGRAPH_BASE_URL is not set: production needs"):
            Settings.from_environ(environ, base_url="http://localhost:8000/api")


def test_development_makes_one_secret_and_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = Settings().secret(), Settings().secret()
    assert first == second
    assert len(first) == 64
    (file,) = (tmp_path / "var").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_secret_is_not_shown_with_the_settings() -> None:
    assert SECRET not in repr(Settings.from_environ({"DUOGRAPH_SECRET_KEY": SECRET}))


def test_the_environment_itself_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("DUOGRAPH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DUOGRAPH_RATE_LIMIT", "7")
    assert Settings.from_environ().rate_limit == 7


def test_a_value_can_be_in_a_file_and_line_breaks_at_its_end_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "database-url"
    file.write_text("postgresql://ada@db/duograph\n")
    settings = Settings.from_environ({"DUOGRAPH_DATABASE_URL_FILE": str(file), "DUOGRAPH_REDIS_URL_FILE": ""})
    assert settings.database_url == "postgresql+asyncpg://ada@db/duograph"
    assert settings.redis_url is None


def test_a_file_that_cannot_be_used_is_named_with_its_variable(tmp_path: Path) -> None:
    missing, empty, binary = tmp_path / "missing", tmp_path / "empty", tmp_path / "binary"
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe")
    for file, reason in (
        (missing, f"{missing} cannot be read (No such file or directory)."),
        (tmp_path, f"{tmp_path} cannot be read (Is a directory)."),
        (empty, f"{empty} is empty. Write the value into it, or unset the variable."),
        (binary, f"{binary} is not text in UTF-8."),
    ):
        with pytest.raises(SettingsError) as refused:
            Settings.from_environ({"DUOGRAPH_SECRET_KEY_FILE": str(file)})
        assert str(refused.value) == f"DUOGRAPH_SECRET_KEY_FILE: {reason}"


def test_a_value_and_its_file_are_not_both_set(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(STRONG)
    environ = {"DUOGRAPH_SECRET_KEY": STRONG, "DUOGRAPH_SECRET_KEY_FILE": str(tmp_path / "key")}
    with pytest.raises(SettingsError, match="DUOGRAPH_SECRET_KEY_FILE are both set"):
        Settings.from_environ(environ)


def test_only_a_setting_can_be_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="DUOGRAPH_NO_SUCH_FILE is not a setting"):
        Settings.from_environ({"DUOGRAPH_NO_SUCH_FILE": str(tmp_path)})
