# What the build scripts of the generators for Python share, next to tests/sites/source/common.sh.

# The wheel brings the command.
unset SISKIN_BINARY

# install_siskin INTEGRATION: a virtual environment $siskin over that of the generator, with the
# integration built as pip would, and what it needs of Siskin.
install_siskin() {
  siskin="$work/venv"
  python3 -m venv "$siskin"
  # The generator's packages, found behind those of this environment.
  "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    > "$("$siskin/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/generator.pth"
  cp -r "$repository/www/integrations/shared-python" "$repository/www/integrations/$1" "$work"
  # What pip left where somebody installed them from there: it would go into the packages.
  rm -rf "$work/shared-python/build" "$work/$1/build"
  "$siskin/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    "$SISKIN_PACKAGES"/siskin-*.whl "$work/shared-python" "$work/$1"
}
