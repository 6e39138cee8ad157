#!/usr/bin/env bash
# Upload a file in parts with curl, resume an interrupted upload, and compare the bytes. Python reads the JSON.
#
#     TOKEN=dg_wat_... bash upload.sh big.zip
#     TOKEN=dg_wat_... bash upload.sh big.zip FILE_ID
#
# DUOGRAPH is the gateway's URL, PART_MIB the size of a part, 5 or more.
set -Eeuo pipefail
file=$1 id=${2:-}
api=${DUOGRAPH:-http://127.0.0.1:8000}/api
part=$((${PART_MIB:-8} * 1024 * 1024))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

call() { curl --silent --show-error --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }
json() { python3 -c "import json, sys; made = json.load(open('$work/file')); $1"; }

if [ -z "$id" ]; then
    python3 - "$file" "$part" > "$work/new" <<'PYTHON'
import json, os, sys
from pathlib import Path
file, part = Path(sys.argv[1]), int(sys.argv[2])
size = file.stat().st_size
starts = range(0, size, part)
parts = [{"number": n, "chunk_start": s, "chunk_end": min(s + part, size)} for n, s in enumerate(starts, 1)]
new = {"service": "downloadable", "name": file.name, "mime_type": "application/octet-stream", "size": size}
print(json.dumps({**new, "upload": {"parts": parts}}))
PYTHON
    call --data-binary "@$work/new" "$api/files/" > "$work/file"
    id=$(json 'print(made["id"])')
else
    call "$api/files/$id" > "$work/file"
fi
echo "file $id"
trap 'echo "Interrupted. Resume with: bash $0 $file $id" >&2' ERR

if [ "$(json 'print(made["is_uploaded"])')" = False ]; then
    json 'a = [p for p in made["upload"]["parts"] if p["checksum_etag"]]; print(len(a), "of", len(made["upload"]["parts"]), "parts have arrived")'
    json 'print("\n".join("{number} {chunk_start} {chunk_end} {url}".format(**p) for p in made["upload"]["parts"] if p["url"]))' > "$work/left"
    while read -r number start end url; do
        [ -n "$number" ] || continue
        tail -c "+$((start + 1))" "$file" 2> /dev/null | head -c "$((end - start))" > "$work/part" || true
        curl --silent --show-error --fail-with-body --upload-file "$work/part" "$url"
        echo "part $number"
    done < "$work/left"
    # The gateway knows which parts have arrived and their ETags.
    call "$api/files/$id" > "$work/file"
    json 'print(json.dumps({"id": made["upload"]["id"], "path": made["path"], "parts": [{"number": p["number"], "checksum_etag": p["checksum_etag"], "checksum_sha256_base64": None} for p in made["upload"]["parts"]]}))' > "$work/done"
    call --data-binary "@$work/done" "$api/files/$id/uploaded" > "$work/file"
fi

call "$api/files/$id/download" > "$work/file"
curl --silent --show-error --fail --output "$work/downloaded" "$(json 'print(made["url"])')"
cmp "$file" "$work/downloaded"
echo "The downloaded bytes are equal."
