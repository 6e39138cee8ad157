#!/bin/sh
# Builds the browser bundles from the packages that package-lock.json pins, from the registry npm is set up for.
# To update one, change its version in package.json, run `npm install --package-lock-only`, then this file.
set -eu

cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund
node build.mjs
rm -rf node_modules
