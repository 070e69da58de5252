#!/usr/bin/env bash
# build-theme.sh THEME PACKAGE CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../common.sh"
venv sphinx "$here/requirements.txt"

cp -r "$3" "$work/docs"
cp "$here/conf.py" "$here/heron.py" "$here/api.md" "$work/docs"
front_matter "$work/docs/private.md" 'myst:' '  html_meta:' '    robots: noindex'
cat >> "$work/docs/index.md" <<'TREE'

```{toctree}
:caption: Guide

guide/install
guide/requests
guide/streams
```

```{toctree}
:caption: Reference

reference/options
reference/errors
api
```

```{toctree}
:hidden:

private
```
TREE

"$venv/bin/sphinx-build" -q -W -b html -D "html_theme=$1" "$work/docs" "$4"
{ version_of Sphinx; version_of "$2"; version_of myst-parser; } > "$4/GENERATOR"
