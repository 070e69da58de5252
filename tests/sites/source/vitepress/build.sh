#!/usr/bin/env bash
# Builds the documentation with VitePress: build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../npm.sh"
out="$(realpath -m "$2")"
npm_tools vitepress

cp -r "$1" "$work/docs"
mkdir "$work/docs/.vitepress"
cp "$here/config.mts" "$work/docs/.vitepress"
front_matter "$work/docs/private.md" 'robots: noindex'
admonition "$work/docs/guide/streams.md"
perl -0pi -e 's/```sh\n(.*?)```\n/::: code-group\n\n```sh [Terminal]\n$1```\n\n:::\n/s' "$work/docs/guide/install.md"
ln -s "$tools/node_modules" "$work/node_modules"

(cd "$work" && nice -n 10 node_modules/.bin/vitepress build docs)
take "$work/docs/.vitepress/dist" "$out"
node_versions vitepress > "$out/GENERATOR"
