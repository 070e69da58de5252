#!/usr/bin/env bash
# Builds the documentation with Sphinx, PyData's theme and siskin-sphinx: build.sh CONTENT_FOLDER OUT_FOLDER
SPHINX_THEME=pydata_sphinx_theme exec bash "$(dirname "$0")/../sphinx/build.sh" "$@"
