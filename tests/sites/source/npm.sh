# What the build scripts of the generators for Node share, next to `common.sh`.
. "$here/../common.sh"

# npm_tools NAME [PROJECT]: the packages of the lock file in $here, installed anew when it changes,
# and an empty folder $project below them, by default "project". Starlight builds nowhere else, and names
# of assets hold a hash of where they were built, so the folder stays the same from build to build.
npm_tools() {
  tools="$cache/$1"
  if ! cmp -s "$here/package-lock.json" "$tools/installed.json"; then
    mkdir -p "$tools"
    rm -f "$tools/installed.json"
    cp "$here/package.json" "$here/package-lock.json" "$tools"
    (cd "$tools" && npm ci)
    cp "$here/package-lock.json" "$tools/installed.json"
  fi
  project="$tools/${2-project}"
  rm -rf "$project"
  mkdir "$project"
}

# node_versions PACKAGE…: "package 1.2.3" for each as installed in $tools, and Node's version.
node_versions() {
  local package
  for package; do
    echo "$package $(node -p "require('$tools/node_modules/$package/package.json').version")"
  done
  echo "node $(node -p process.versions.node)"
}

# take FROM TO: makes a built site the folder's only content.
take() {
  rm -rf "$2"
  mkdir -p "$(dirname "$2")"
  cp -r "$1" "$2"
}

# admonition FILE: makes its block quotations boxes, in the syntax that these generators share.
admonition() {
  perl -0pi -e 's/((?:^> .*\n)+)/my $text = $1; $text =~ s{^> }{}gm; ":::tip\n\n$text\n:::\n"/gme' "$1"
}
