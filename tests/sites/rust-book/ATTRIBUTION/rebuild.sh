#!/bin/sh
# Builds the site anew: rebuild.sh MARKDOWN_FOLDER, where MARKDOWN_FOLDER is the book's `src`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
site=$(dirname "$here")
RUST_DOCS=$(rustc +1.95.0 --print sysroot)/share/doc/rust/html/book
export RUST_DOCS
work=$(mktemp -d)
cp "$here/book.toml" "$here/listings.py" "$here/listing.css" "$work"
cp -R "$1" "$work/src"
mkdir -p "$work/src/img" "$work/theme/fonts"
echo "/* The reader's own fonts. */" > "$work/theme/fonts/fonts.css" # instead of mdBook's
cp -R "$RUST_DOCS/img/." "$work/src/img"
(cd "$work" && mdbook build --dest-dir "$work/book")
find "$site" -mindepth 1 -maxdepth 1 ! -name ATTRIBUTION -exec rm -rf {} +
rm -f "$work/book/.nojekyll"
cp -R "$work/book/." "$site"
rm -rf "$work"
