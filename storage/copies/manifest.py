"""What a backup says about itself: a directory with a manifest, the sums of its files, and the files.

manifest.json     versions, counts, the SHA-256 of the list of sums, and a signature over all of these
SHA256SUMS        the SHA-256 of every other file, as `sha256sum -c` reads it
database.sqlite   the database
objects/          uploaded files at their paths in the store, unless they are in S3
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from storage.copies.sqlite_files import CopyRefused
from storage.objects.interface import PathRefused
from storage.objects.paths import check_path
from storage.sealing import Purpose, is_signed, sign

FORMAT = 1
MANIFEST, SUMS, DATABASE, OBJECTS = "manifest.json", "SHA256SUMS", "database.sqlite", "objects"


@dataclass(frozen=True)
class Manifest:
    """`secret` is a signature that tells whose secret key made `signature`, which covers everything else.
    `object_place` is `local` or `s3://BUCKET`.

    `missing` and `damaged` are paths of files that the store did not have, or had with other content, when
    the backup was made.
    """

    id: str
    version: str
    revision: str
    created_at: str
    secret: str
    object_place: str
    rows: dict[str, int]
    database_bytes: int = 0
    objects: int = 0
    object_bytes: int = 0
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    sums_sha256: str = ""
    format: int = FORMAT
    signature: str = ""

    def signed_by(self, secret: bytes) -> "Manifest":
        return replace(self, signature=sign(secret, Purpose.BACKUP, "manifest", self._text))

    def has_secret(self, secret: bytes) -> bool:
        """Whether the backup was made with this secret key."""
        return is_signed(secret, Purpose.BACKUP, self.secret, self.id)

    def is_signed_by(self, secret: bytes) -> bool:
        """Whether it is, with all files that it sums up, as this secret key has signed it."""
        return is_signed(secret, Purpose.BACKUP, self.signature, "manifest", self._text)

    @property
    def _text(self) -> str:
        return json.dumps(asdict(replace(self, signature="")), sort_keys=True)

    @property
    def has_objects(self) -> bool:
        return self.object_place == "local"


def write_manifest(directory: Path, manifest: Manifest) -> None:
    text = json.dumps(asdict(manifest), ensure_ascii=False, indent=2)
    (directory / MANIFEST).write_text(text + "\n")


def read_manifest(directory: Path) -> Manifest:
    """Raises `CopyRefused`."""
    try:
        values: Any = json.loads((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise CopyRefused(f"{directory} is no complete backup: it has no {MANIFEST}.") from None
    except ValueError:
        raise altered(MANIFEST) from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise CopyRefused(f"{directory} was made by another version of Duograph: restore it with that one.")
    try:
        return Manifest(**values)
    except TypeError:
        raise altered(MANIFEST) from None


def write_sums(directory: Path, sums: Mapping[str, str]) -> str:
    """Write the list of sums by path; returns its own sum."""
    content = "".join(f"{sum}  {path}\n" for path, sum in sums.items()).encode()
    (directory / SUMS).write_bytes(content)
    return sha256(content).hexdigest()


def read_sums(directory: Path, manifest: Manifest) -> dict[str, str]:
    """The sum of each file by its path. Raises `CopyRefused` if the list is not the manifest's."""
    try:
        content = (directory / SUMS).read_bytes()
    except FileNotFoundError:
        raise altered(SUMS) from None
    if sha256(content).hexdigest() != manifest.sums_sha256:
        raise altered(SUMS)
    sums = dict(_sums_in(content.decode()))
    if DATABASE not in sums or len(sums) != manifest.objects + 1:
        raise altered(SUMS)
    return sums


def _sums_in(text: str) -> Iterator[tuple[str, str]]:
    for line in text.removesuffix("\n").split("\n"):
        sum, _, path = line.partition("  ")
        try:
            check_path(path)
        except PathRefused:
            raise altered(SUMS) from None
        yield path, sum


def altered(name: str) -> CopyRefused:
    return CopyRefused(f"{name} of the backup is not as it was made: use another copy of the backup.")
