#!/bin/sh
# Writes images.env: each release in `images` with the digest that its registry has now. A tag can be moved to another
# image; a digest cannot. Commit images.env with your configuration, and run this script again for new releases.
set -eu
cd "$(dirname "$0")"
trap 'rm -f images.env.part' EXIT
: > images.env.part
while read -r name image; do
	case $name in '#'* | '') continue ;; esac
	digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image" < /dev/null)
	if ! printf %s "$digest" | grep -Eqx 'sha256:[0-9a-f]{64}'; then
		echo "The registry names no digest of $image: $digest" >&2
		exit 1
	fi
	printf '# %s\n%s=%s@%s\n' "$image" "$name" "${image%:*}" "$digest" >> images.env.part
done < images
mv images.env.part images.env
