# What the build scripts share. Sourced with the generator's folder as `here`.
set -euo pipefail
export LC_ALL=C.UTF-8 TZ=UTC SOURCE_DATE_EPOCH=1767225600

cache="${SISKIN_GENERATORS:-$HOME/.cache/siskin/generators}"

# venv NAME REQUIREMENTS: a virtual environment with the packages, made anew when they change.
venv() {
  venv="$cache/$1"
  if ! cmp -s "$2" "$venv/installed.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$2"
    cp "$2" "$venv/installed.txt"
  fi
}

# front_matter FILE LINE…: puts YAML before a page's text.
front_matter() {
  local file="$1"
  shift
  { printf -- '---\n'; printf '%s\n' "$@"; printf -- '---\n\n'; cat "$file"; } > "$file.new"
  mv "$file.new" "$file"
}

# version_of PACKAGE: "package 1.2.3" as installed in $venv.
version_of() {
  "$venv/bin/python" -c "import importlib.metadata as m; print('$1', m.version('$1'))"
}

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
