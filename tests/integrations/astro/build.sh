#!/usr/bin/env bash
# Builds the documentation with Astro, without Starlight, and @siskin/starlight: build.sh CONTENT_FOLDER OUT_FOLDER
tests="$(cd "$(dirname "$0")" && pwd)"
repository="$(cd "$tests/../../.." && pwd)"
# Starlight's lock file names Astro too.
here="$repository/tests/sites/source/starlight"
. "$tests/../npm.sh"
npm_tools starlight astro-with-siskin
export ASTRO_TELEMETRY_DISABLED=1

echo '{ "private": true, "type": "module" }' > "$project/package.json"
install_siskin starlight
mkdir "$project/src"
cp -r "$1" "$project/src/pages"
cp "$tests/astro.config.mjs" "$project"
cp "$tests/Page.astro" "$project/src"

cd "$project/src/pages"
find . -name '*.md' | while read -r page; do
  case "$page" in
    ./private.md) front_matter "$page" 'layout: /src/Page.astro' 'robots: noindex' ;;
    *) front_matter "$page" 'layout: /src/Page.astro' ;;
  esac
done

cd "$project"
nice -n 10 "$tools/node_modules/.bin/astro" build
take dist "$2"
