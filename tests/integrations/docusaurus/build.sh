#!/usr/bin/env bash
# Builds the documentation with Docusaurus and @siskin/docusaurus: build.sh CONTENT_FOLDER OUT_FOLDER
tests="$(cd "$(dirname "$0")" && pwd)"
repository="$(cd "$tests/../../.." && pwd)"
here="$repository/tests/sites/source/docusaurus"
. "$tests/../npm.sh"
npm_tools docusaurus with-siskin
export DOCUSAURUS_NO_TELEMETRY=1 DISABLE_VERSION_CHECK=1

echo '{ "private": true }' > "$project/package.json"
install_siskin docusaurus
cp -r "$1" "$project/docs"
cp "$here/docusaurus.config.js" "$project/plain.config.js"
cp "$tests/docusaurus.config.js" "$here/sidebars.js" "$project"
cd "$project/docs"
front_matter index.md 'slug: /'
front_matter guide/requests.md 'tags: [network, code]'
front_matter private.md 'unlisted: true'

cd "$project"
nice -n 10 "$tools/node_modules/.bin/docusaurus" build
take build "$2"
