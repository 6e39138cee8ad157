"""What every store needs for parts: ETags as S3 computes them, and the check before completion."""

from collections.abc import Iterable, Sequence
from hashlib import md5

from storage.objects.interface import PartFault, PartProblem, PartReference, StoredPart


def quoted_etag(value: str) -> str:
    """The ETag in double quotes, whether or not it already had them."""
    return f'"{bare_etag(value)}"'


def bare_etag(value: str) -> str:
    """The ETag without its quotes."""
    return value.strip().strip('"')


def composite_etag(etags: Sequence[str]) -> str:
    """The ETag of an object made of parts with these ETags (hex MD5), in this order."""
    digests = b"".join(bytes.fromhex(bare_etag(etag)) for etag in etags)
    return f'"{md5(digests, usedforsecurity=False).hexdigest()}-{len(etags)}"'


def part_problems(references: Sequence[PartReference], stored: Iterable[StoredPart]) -> list[PartProblem]:
    """The differences between the stored parts and the references, by number; empty if there are none."""
    if not references:
        return [PartProblem(1, PartFault.missing, "part 1 is missing: no parts were listed")]
    by_number = {part.number: part for part in stored}
    problems: list[PartProblem] = []
    seen: set[int] = set()
    for reference in sorted(references, key=lambda reference: reference.number):
        if reference.number in seen:
            message = f"part {reference.number} is listed more than once"
            problems.append(PartProblem(reference.number, PartFault.repeated, message))
            continue
        seen.add(reference.number)
        problem = _compare(reference, by_number.get(reference.number))
        if problem is not None:
            problems.append(problem)
    return problems


def _compare(reference: PartReference, part: StoredPart | None) -> PartProblem | None:
    number = reference.number
    if part is None:
        return PartProblem(number, PartFault.missing, f"part {number} has not arrived")
    if part.size != reference.size:
        message = f"part {number} has {part.size} bytes, but {reference.size} were declared"
        return PartProblem(number, PartFault.size, message)
    if bare_etag(part.etag) != bare_etag(reference.etag):
        message = f"part {number} has another ETag: {part.etag}"
        return PartProblem(number, PartFault.etag, message)
    checksums = {part.checksum_sha256_base64, reference.checksum_sha256_base64} - {None}
    if len(checksums) > 1:
        message = f"part {number} has another SHA-256: {part.checksum_sha256_base64}"
        return PartProblem(number, PartFault.checksum, message)
    return None
