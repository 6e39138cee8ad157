#!/usr/bin/env python3
"""Upload a file in parts with only Python, resume an interrupted upload, and compare the bytes.

    TOKEN=dg_wat_... python3 upload.py big.zip
    TOKEN=dg_wat_... python3 upload.py big.zip --resume FILE_ID

`DUOGRAPH` is the gateway's URL (default http://localhost:8000); `PART_MIB` is the size of a part, 5 or more.
"""

import argparse
import base64
import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

GATEWAY = os.environ.get("DUOGRAPH", "http://localhost:8000")
PART = int(os.environ.get("PART_MIB", "8")) * 1024 * 1024


def call(method, path, body=None):
    """Send a request to the API and return its JSON."""
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{GATEWAY}/api{path}", data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def read(file, part):
    with file.open("rb") as content:
        content.seek(part["chunk_start"])
        return content.read(part["chunk_end"] - part["chunk_start"])


def begin(file):
    """Create a file whose parts all declare their SHA-256."""
    size = file.stat().st_size
    parts = []
    for number, start in enumerate(range(0, size, PART), 1):
        part = {"number": number, "chunk_start": start, "chunk_end": min(start + PART, size)}
        digest = hashlib.sha256(read(file, part)).digest()
        parts.append({**part, "checksum_sha256_base64": base64.b64encode(digest).decode()})
    mime_type = "application/octet-stream"
    new = {"service": "downloadable", "name": file.name, "mime_type": mime_type, "size": size}
    return call("POST", "/files/", {**new, "upload": {"parts": parts}})


def put(file, part):
    """Send one part to its URL, with its headers, and return the ETag from the answer."""
    headers = {"Content-Type": "application/octet-stream", **part["headers"]}  # urllib's default is a form
    request = urllib.request.Request(part["url"], read(file, part), headers, method="PUT")
    with urllib.request.urlopen(request) as answer:
        return answer.headers["ETag"]


def complete(file, made):
    """Send the missing parts, then complete the upload."""
    upload, parts = made["upload"], []
    arrived = [part for part in upload["parts"] if part["checksum_etag"] is not None]
    print(f"{len(arrived)} of {len(upload['parts'])} parts have arrived", flush=True)
    for part in upload["parts"]:
        etag = part["checksum_etag"] or put(file, part)
        checksum = part["checksum_sha256_base64"]
        parts.append({"number": part["number"], "checksum_etag": etag, "checksum_sha256_base64": checksum})
        print(f"part {part['number']}", flush=True)
    call("POST", f"/files/{made['id']}/uploaded", {"id": upload["id"], "path": made["path"], "parts": parts})


def compare(file, made):
    """Download the file and compare its bytes."""
    download = call("GET", f"/files/{made['id']}/download")
    request = urllib.request.Request(download["url"], headers=download["headers"])
    sent, received = hashlib.sha256(), hashlib.sha256()
    with urllib.request.urlopen(request) as answer, file.open("rb") as content:
        while block := content.read(1024 * 1024):
            sent.update(block)
        while block := answer.read(1024 * 1024):
            received.update(block)
    if sent.digest() != received.digest():
        sys.exit("The downloaded bytes differ.")
    print(f"The downloaded bytes are equal: SHA-256 {received.hexdigest()}")


def main():
    parser = argparse.ArgumentParser(description="Upload a file in parts.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--resume", metavar="FILE_ID", help="Resume the upload of this file.")
    arguments = parser.parse_args()
    made = call("GET", f"/files/{arguments.resume}") if arguments.resume else begin(arguments.file)
    print(f"file {made['id']}", flush=True)
    try:
        if not made["is_uploaded"]:
            complete(arguments.file, made)
        compare(arguments.file, made)
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code} from {error.url.partition('?')[0]}: {error.read().decode(errors='replace')}")
    except OSError as error:
        sys.exit(f"Interrupted ({error}). Resume with --resume {made['id']}")


if __name__ == "__main__":
    main()
