#!/usr/bin/env bash
# Builds the documentation in source/content with the named generators, or with all of them, and
# keeps of each site what tells pages from other files, and of Starlight's what its search box runs.
#
#   tests/sites/build.sh [--out FOLDER] [NAME…]
#
# Without --out the fixtures beside this script are replaced.
set -euo pipefail
export LC_ALL=C.UTF-8

here="$(cd "$(dirname "$0")" && pwd)"
out="$here"
if [ "${1-}" = --out ]; then
  mkdir -p "$2"
  out="$(cd "$2" && pwd)"
  shift 2
fi

if [ $# -eq 0 ]; then
  for script in "$here"/source/*/build.sh; do
    set -- "$@" "$(basename "$(dirname "$script")")"
  done
fi

built="$(mktemp -d)"
trap 'rm -rf "$built"' EXIT

for name in "$@"; do
  script="$here/source/$name/build.sh"
  if [ ! -f "$script" ]; then
    echo "no such generator: $name; there is no $script" >&2
    exit 1
  fi
  echo "building $name" >&2
  bash "$script" "$here/source/content" "$built/$name"
  find "$built/$name" -type f \
    ! -name '*.html' ! -name '*.htm' ! -name sitemap.xml ! -name robots.txt \
    ! -path '*/_astro/*' \
    ! -name pagefind-entry.json ! -name documentation_options.js ! -name GENERATOR -delete
  find "$built/$name" -type d -empty -delete
  find "$built/$name" -type f -exec chmod 644 {} +
  rm -rf "${out:?}/$name"
  mv "$built/$name" "$out/$name"
done
