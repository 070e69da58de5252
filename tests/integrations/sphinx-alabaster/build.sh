#!/usr/bin/env bash
# Builds the documentation with Sphinx, alabaster and siskin-sphinx: build.sh CONTENT_FOLDER OUT_FOLDER
SPHINX_THEME=alabaster exec bash "$(dirname "$0")/../sphinx/build.sh" "$@"
