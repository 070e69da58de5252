#!/usr/bin/env bash
# Builds the documentation with Eleventy: build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../npm.sh"
out="$(realpath -m "$2")"
npm_tools eleventy

cp -r "$1" "$project/docs"
cp -r "$here/_includes" "$here/"*.njk "$here/404.md" "$project/docs"
cp "$here/eleventy.config.js" "$here/package.json" "$project"
cd "$project/docs"

# page FILE NAVIGATION LINE…: adds its place in the navigation, named by its heading, and more.
page() {
  local key
  key="$(sed -n 's/^# //p' "$1" | head -1)"
  front_matter "$1" "eleventyNavigation: { key: $key, $2 }" "${@:3}"
}
page index.md 'order: 1'
page guide/install.md 'order: 1, parent: Heron'
page guide/requests.md 'order: 2, parent: Heron' 'tags: [network, code]'
page guide/streams.md 'order: 3, parent: Heron' 'tags: [code]'
page reference/options.md 'order: 4, parent: Heron'
page reference/errors.md 'order: 5, parent: Heron'
front_matter private.md 'title: Notes for maintainers' 'robots: noindex' 'eleventyExcludeFromCollections: true'

cd "$project"
nice -n 10 "$tools/node_modules/.bin/eleventy" --input=docs --output=site
take site "$out"
node_versions @11ty/eleventy @11ty/eleventy-plugin-syntaxhighlight markdown-it-anchor > "$out/GENERATOR"
