#!/usr/bin/env bash
# build.sh CONTENT_FOLDER OUT_FOLDER
exec "$(dirname "$0")/../sphinx/build-theme.sh" alabaster alabaster "$@"
