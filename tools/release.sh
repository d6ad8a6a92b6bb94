#!/bin/sh
# `release.sh check vX.Y.Z` fails unless the version and a dated section of the changelog are those of the tag, no
# fragment is left and the address of the project is filled in; `release.sh notes vX.Y.Z` prints that section.
set -eu
version=${2#v}
fail() { echo "$1" >&2; exit 1; }
notes() { awk -v head="## $version (" 'index($0, "## ") == 1 { inside = index($0, head) == 1; next } inside' CHANGELOG.md; }
[ -n "$(notes)" ] || fail "CHANGELOG.md must have a section '## $version (date)'"
if [ "$1" = check ]; then
  stated=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/grampus/_version.py)
  [ "$2" = "v$stated" ] || fail "the tag must be v$stated, the version of the package; got $2"
  ! grep -q 'example\.invalid' pyproject.toml || fail "project.urls of pyproject.toml must be the address of the project, not the placeholder"
  left=$(find changes -name '*.*.md' -exec basename {} \;)
  [ -z "$left" ] || fail "fragments must be collected before a release; got $left"
else
  notes
fi
