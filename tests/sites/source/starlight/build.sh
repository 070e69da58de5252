#!/usr/bin/env bash
# Builds the documentation with Starlight: build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../npm.sh"
out="$(realpath -m "$2")"
npm_tools starlight
export ASTRO_TELEMETRY_DISABLED=1

mkdir -p "$project/src/content"
cp -r "$1" "$project/src/content/docs"
cp "$here/content.config.ts" "$project/src"
cp "$here/astro.config.mjs" "$here/package.json" "$project"

cd "$project/src/content/docs"

# Starlight shows the title from the front matter, and knows links to pages only by their URLs.
noindex='head: [{ tag: meta, attrs: { name: robots, content: noindex } }]'
find . -name '*.md' | while read -r page; do
  title="$(sed -n '0,/^# /s/^# //p' "$page")"
  sed -i -e '0,/^# /{/^# /d}' -e 's,](\(\.\./\)*\([a-z/]*\)\.md,](/\2/,' "$page"
  case "$page" in
    ./private.md) front_matter "$page" "title: $title" 'pagefind: false' "$noindex" ;;
    *) front_matter "$page" "title: $title" ;;
  esac
done
admonition guide/streams.md
sed -i '0,/^```js$/s//```js title="birds.js"/' guide/requests.md

cd "$project"
nice -n 10 "$tools/node_modules/.bin/astro" build
take dist "$out"
node_versions @astrojs/starlight astro pagefind > "$out/GENERATOR"
