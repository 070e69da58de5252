#!/usr/bin/env bash
# build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../common.sh"
venv mkdocs-material "$here/requirements.txt"

cp -r "$1" "$work/docs"
cp -r "$here/overrides" "$here/mkdocs.yml" "$work"
cp "$here/tags.md" "$work/docs"
front_matter "$work/docs/private.md" 'robots: noindex'
front_matter "$work/docs/guide/requests.md" 'tags: [network, code]'
front_matter "$work/docs/guide/streams.md" 'tags: [code]'

NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --quiet --strict --config-file "$work/mkdocs.yml" --site-dir "$2"
{ version_of mkdocs; version_of mkdocs-material; } > "$2/GENERATOR"
