#!/usr/bin/env bash
# Builds the documentation of tests/sites/source with the named generators, or with all of them, each
# with Siskin's integration, into FOLDER/NAME/docs: the sites expect to be served below /docs/.
#
#   SISKIN_BINARY=… SISKIN_PACKAGES=… tests/integrations/build.sh --out FOLDER [NAME…]
#
# SISKIN_BINARY is the command; SISKIN_PACKAGES the folder that `cargo xtask package` writes.
set -euo pipefail
export LC_ALL=C.UTF-8

here="$(cd "$(dirname "$0")" && pwd)"
if [ "${1-}" != --out ] || [ $# -lt 2 ]; then
  echo "where to? tests/integrations/build.sh --out FOLDER [NAME…]" >&2
  exit 1
fi
mkdir -p "$2"
out="$(cd "$2" && pwd)"
shift 2
if [ $# -eq 0 ]; then
  for script in "$here"/*/build.sh; do
    set -- "$@" "$(basename "$(dirname "$script")")"
  done
fi

: "${SISKIN_BINARY:?names the command siskin}"
: "${SISKIN_PACKAGES:?names the folder that cargo xtask package writes}"
export SISKIN_BINARY SISKIN_PACKAGES

for name in "$@"; do
  script="$here/$name/build.sh"
  if [ ! -f "$script" ]; then
    echo "no such integration: $name; there is no $script" >&2
    exit 1
  fi
  echo "building $name" >&2
  rm -rf "${out:?}/$name"
  mkdir "$out/$name"
  bash "$script" "$here/../sites/source/content" "$out/$name/docs"
done
