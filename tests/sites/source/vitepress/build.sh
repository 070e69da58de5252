#!/usr/bin/env bash
# Builds the documentation with VitePress: build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../npm.sh"
out="$(realpath -m "$2")"
npm_tools vitepress

cp -r "$1" "$project/docs"
mkdir "$project/docs/.vitepress"
cp "$here/config.mts" "$project/docs/.vitepress"
front_matter "$project/docs/private.md" 'robots: noindex'
admonition "$project/docs/guide/streams.md"
perl -0pi -e 's/```sh\n(.*?)```\n/::: code-group\n\n```sh [Terminal]\n$1```\n\n:::\n/s' "$project/docs/guide/install.md"

(cd "$project" && nice -n 10 "$tools/node_modules/.bin/vitepress" build docs)
take "$project/docs/.vitepress/dist" "$out"
node_versions vitepress > "$out/GENERATOR"
