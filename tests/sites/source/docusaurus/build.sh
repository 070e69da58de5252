#!/usr/bin/env bash
# Builds the documentation with Docusaurus: build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../npm.sh"
out="$(realpath -m "$2")"
npm_tools docusaurus
export DOCUSAURUS_NO_TELEMETRY=1 DISABLE_VERSION_CHECK=1

cp -r "$1" "$project/docs"
cp "$here/docusaurus.config.js" "$here/sidebars.js" "$here/package.json" "$project"
cd "$project/docs"
front_matter index.md 'slug: /'
front_matter guide/requests.md 'tags: [network, code]'
front_matter guide/streams.md 'tags: [code]'
front_matter private.md 'unlisted: true'
admonition guide/streams.md
sed -i '0,/^```js$/s//```js title="birds.js" showLineNumbers/' guide/requests.md

cd "$project"
nice -n 10 "$tools/node_modules/.bin/docusaurus" build
take build "$out"
node_versions @docusaurus/core @docusaurus/preset-classic > "$out/GENERATOR"
