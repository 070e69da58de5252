#!/usr/bin/env bash
# build.sh CONTENT_FOLDER OUT_FOLDER
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/../common.sh"

# page SOURCE TARGET LINE…: the first heading becomes the title, as Hugo wants it.
page() {
  local source="$1" target="$work/content/$2" title
  shift 2
  title="$(sed -n '1s/^# //p' "$source")"
  mkdir -p "$(dirname "$target")"
  sed 1d "$source" > "$target"
  front_matter "$target" "title: $title" "$@"
}

cp -r "$here/layouts" "$here/config.yaml" "$work"
page "$1/index.md" _index.md
page "$1/private.md" private.md 'robots: noindex'
page "$1/guide/install.md" guide/install.md 'date: 2026-01-01' 'tags: [setup]' 'categories: [beginners]'
page "$1/guide/requests.md" guide/requests.md 'date: 2026-01-02' 'tags: [network, code]' 'aliases: [/requests/]'
page "$1/guide/streams.md" guide/streams.md 'date: 2026-01-03' 'tags: [network, code]'
page "$1/reference/options.md" reference/options.md 'tags: [network]'
page "$1/reference/errors.md" reference/errors.md 'tags: [network]'

hugo --quiet --source "$work" --destination "$2"
hugo version | sed -E 's/^hugo v([0-9.]+).*/hugo \1/' > "$2/GENERATOR"
