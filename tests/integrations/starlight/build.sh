#!/usr/bin/env bash
# Builds the documentation with Starlight and @siskin/starlight: build.sh CONTENT_FOLDER OUT_FOLDER
tests="$(cd "$(dirname "$0")" && pwd)"
repository="$(cd "$tests/../../.." && pwd)"
here="$repository/tests/sites/source/starlight"
. "$tests/../npm.sh"
npm_tools starlight with-siskin
export ASTRO_TELEMETRY_DISABLED=1

echo '{ "private": true, "type": "module" }' > "$project/package.json"
install_siskin starlight
mkdir -p "$project/src/content"
cp -r "$1" "$project/src/content/docs"
cp "$here/content.config.ts" "$project/src"
cp "$tests/astro.config.mjs" "$project"

# Starlight shows the title from the front matter.
noindex='head: [{ tag: meta, attrs: { name: robots, content: noindex } }]'
cd "$project/src/content/docs"
find . -name '*.md' | while read -r page; do
  title="$(sed -n '0,/^# /s/^# //p' "$page")"
  sed -i '0,/^# /{/^# /d}' "$page"
  case "$page" in
    ./private.md) front_matter "$page" "title: $title" "$noindex" ;;
    *) front_matter "$page" "title: $title" ;;
  esac
done

cd "$project"
nice -n 10 "$tools/node_modules/.bin/astro" build
take dist "$2"
