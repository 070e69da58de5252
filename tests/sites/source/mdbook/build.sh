#!/usr/bin/env bash
# build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../common.sh"
venv mdbook "$here/requirements.txt"

cp -r "$1" "$work/src"
cp -r "$here/book.toml" "$here/theme" "$work"
cp "$here/SUMMARY.md" "$work/src"
"$venv/bin/mdbook" build --dest-dir "$2" "$work" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
"$venv/bin/mdbook" --version | sed 's/ v/ /' > "$2/GENERATOR"
