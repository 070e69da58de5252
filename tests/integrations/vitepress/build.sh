#!/usr/bin/env bash
# Builds the documentation with VitePress and @siskin/vitepress: build.sh CONTENT_FOLDER OUT_FOLDER
tests="$(cd "$(dirname "$0")" && pwd)"
repository="$(cd "$tests/../../.." && pwd)"
here="$repository/tests/sites/source/vitepress"
. "$tests/../npm.sh"
npm_tools vitepress with-siskin

echo '{ "private": true, "type": "module" }' > "$project/package.json"
install_siskin vitepress
cp -r "$1" "$project/docs"
mkdir "$project/docs/.vitepress"
cp "$here/config.mts" "$project/docs/.vitepress/plain.mts"
cp "$tests/config.mts" "$project/docs/.vitepress"
front_matter "$project/docs/private.md" 'robots: noindex'

(cd "$project" && nice -n 10 "$tools/node_modules/.bin/vitepress" build docs)
take "$project/docs/.vitepress/dist" "$2"
