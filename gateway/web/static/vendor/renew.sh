#!/bin/sh
# Fetches the browser bundles of this folder from the npm registry that npm is set up for.
# Change a version here, run this file, then the tests of the pages; README.md names the same versions.
set -eu

GRAPHIQL=graphiql@3.9.0
REACT=react@18.3.1
REACT_DOM=react-dom@18.3.1
RAPIDOC=rapidoc@9.3.8

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch PACKAGE@VERSION FILE...: the named files of the package, into a folder with the package's name
fetch() {
    package=$1
    name=${package%@*}
    shift
    mkdir -p "$work/$name" "$here/$name"
    archive=$(cd "$work" && npm pack --silent "$package")
    tar -xzf "$work/$archive" -C "$work/$name" --strip-components=1
    for file in "$@"; do
        # The source maps are not kept, so the lines that name them go too.
        sed '/^\/[/*]# sourceMappingURL=/d' "$work/$name/$file" > "$here/$name/$(basename "$file")"
    done
}

fetch "$GRAPHIQL" graphiql.min.js graphiql.min.css LICENSE
fetch "$REACT" umd/react.production.min.js LICENSE
fetch "$REACT_DOM" umd/react-dom.production.min.js LICENSE
fetch "$RAPIDOC" dist/rapidoc-min.js dist/rapidoc-min.js.LICENSE.txt LICENSE.txt
