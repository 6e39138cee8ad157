"""Names of files: safe on every file system and in every header, readable sizes."""

import unicodedata
from pathlib import PurePosixPath
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.objects.names import content_disposition, object_path, safe_name

ANY_TEXT = st.text(st.characters(), max_size=400) | st.text("./\\ \0\n\u202eaé😀\ud800", max_size=400)


@given(ANY_TEXT)
def test_any_text_becomes_a_safe_name(text):
    name = safe_name(text)
    assert 0 < len(name.encode()) <= 255
    assert "/" not in name
    assert "\\" not in name
    assert ".." not in name
    assert name.strip(". ")
    assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in name)
    assert PurePosixPath(name).name == name
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("Summer mix.zip", "Summer mix.zip"),
        ("../../etc/passwd", "etcpasswd"),
        ("C:\\music\\song.mp3", "C:musicsong.mp3"),
        ("report..pdf", "report.pdf"),
        ("a\0b\r\nc.txt", "abc.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("  padded.txt ", "padded.txt"),
        (".gitignore", ".gitignore"),
        ("日本語.png", "日本語.png"),
        ("", "file"),
        ("..", "file"),
        ("/", "file"),
        (". . .", "file"),
    ],
)
def test_a_name_loses_what_is_unsafe_and_keeps_the_rest(given_name, name):
    assert safe_name(given_name) == name


def test_a_long_name_is_cut_before_its_extension_and_between_characters():
    assert safe_name("é" * 300 + ".tar") == "é" * 125 + ".tar"
    assert safe_name("a" * 250 + ". " * 10 + ".txt") == "a" * 250 + ".txt"
    assert safe_name("a." + "b" * 300) == "a." + "b" * 253


def test_a_path_is_made_of_service_workspace_file_and_safe_name():
    path = object_path("downloadable", UUID(int=1), UUID(int=2), "../a/b.txt")
    assert path == f"downloadable/{UUID(int=1)}/{UUID(int=2)}/ab.txt"


@given(ANY_TEXT)
def test_a_content_disposition_is_one_line_of_ascii(name):
    header = content_disposition(name, attachment=True)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
