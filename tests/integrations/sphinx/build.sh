#!/usr/bin/env bash
# Builds the documentation with Sphinx, furo and siskin-sphinx: build.sh CONTENT_FOLDER OUT_FOLDER
# SPHINX_THEME names another theme.
tests="$(cd "$(dirname "$0")" && pwd)"
repository="$(cd "$tests/../../.." && pwd)"
here="$repository/tests/sites/source/sphinx"
. "$here/../common.sh"
. "$tests/../python.sh"
venv sphinx "$here/requirements.txt"
install_siskin sphinx

cp -r "$1" "$work/docs"
cat > "$work/docs/conf.py" <<'CONF'
project = "Heron"
extensions = ["myst_parser", "siskin_sphinx"]
myst_heading_anchors = 3
siskin = {"limit": 5}
CONF
front_matter "$work/docs/private.md" 'orphan: true' 'myst:' '  html_meta:' '    robots: noindex'
cat >> "$work/docs/index.md" <<'TREE'

```{toctree}
guide/install
guide/requests
guide/streams
reference/options
reference/errors
```
TREE

"$siskin/bin/python" -m sphinx -q -W -b html -D "html_theme=${SPHINX_THEME-furo}" "$work/docs" "$2"
