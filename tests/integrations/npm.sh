# What the build scripts of the generators for Node share, next to those of tests/sites/source.
. "$here/../npm.sh"

# The packages bring the command.
unset SISKIN_BINARY

# install_siskin INTEGRATION: packs the integration as npm would publish it, and installs it into
# $project with what it needs of Siskin. The generator itself lies in the folder above.
install_siskin() {
  local packages="$repository/www/integrations"
  (cd "$work" && npm pack --silent "$packages/shared" "$packages/$1" > packed.txt)
  (cd "$project" && npm install --silent --no-save --no-audit --no-fund --offline --omit=optional --legacy-peer-deps \
    "$SISKIN_PACKAGES"/siskin-[0-9]*.tgz "$SISKIN_PACKAGES"/siskin-linux-x64-*.tgz \
    "$SISKIN_PACKAGES"/siskin-encoder-en-*.tgz $(sed "s,^,$work/," "$work/packed.txt"))
}
