#!/usr/bin/env bash
# Builds the documentation with MkDocs Material and siskin-mkdocs: build.sh CONTENT_FOLDER OUT_FOLDER
tests="$(cd "$(dirname "$0")" && pwd)"
repository="$(cd "$tests/../../.." && pwd)"
here="$repository/tests/sites/source/mkdocs-material"
. "$here/../common.sh"
. "$tests/../python.sh"
venv mkdocs-material "$here/requirements.txt"
install_siskin mkdocs

cp -r "$1" "$work/docs"
cp -r "$here/overrides" "$tests/mkdocs.yml" "$work"
front_matter "$work/docs/private.md" 'robots: noindex'

NO_MKDOCS_2_WARNING=1 "$siskin/bin/python" -m mkdocs build --quiet --strict --config-file "$work/mkdocs.yml" --site-dir "$2"
