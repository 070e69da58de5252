#!/bin/sh
# Cargo, as `cargo xtask package` lets maturin call it. Maturin compiles one package by itself, which has fewer
# features than the whole workspace and would compile the network's dependencies a second time.
if [ "$1" = rustc ]; then
  shift
  set -- build --workspace --locked "$@"
fi
exec cargo "$@"
