#!/usr/bin/env bash
# Builds the documentation with mdBook and `siskin mdbook`: build.sh CONTENT_FOLDER OUT_FOLDER
repository="$(cd "$(dirname "$0")/../../.." && pwd)"
here="$repository/tests/sites/source/mdbook"
. "$here/../common.sh"
venv mdbook "$here/requirements.txt"

cp -r "$1" "$work/src"
cp -r "$here/theme" "$work"
cp "$here/SUMMARY.md" "$work/src"
cat "$here/book.toml" - > "$work/book.toml" <<TABLES

[output.html.search]
enable = false

[output.siskin]
command = "$SISKIN_BINARY mdbook"
limit = 5
TABLES
# The command lies in cargo's target folder, far from the encoder.
echo "encoder = '$repository/models/siskin-en'" > "$work/siskin.toml"
"$venv/bin/mdbook" build "$work"
mv "$work/book/html" "$2"
