#!/usr/bin/env bash
# build.sh CONTENT_FOLDER OUT_FOLDER
exec "$(dirname "$0")/../sphinx/build-theme.sh" pydata_sphinx_theme pydata-sphinx-theme "$@"
