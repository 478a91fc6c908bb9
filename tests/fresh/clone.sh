#!/usr/bin/env bash
# Clones the repository into an empty folder with an empty home, runs the README's two commands
# exactly as they stand there, and uninstalls. Prints what was installed and how long it took.
#
#   tests/fresh/clone.sh               the README's commands
#   tests/fresh/clone.sh 'make run'    these instead
#
# Needs git, make, Python 3.11 or later (PYTHON=… names another) and the package index.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() { echo "fresh clone: $*" >&2; exit 1; }

mkdir "$place/home"
export HOME="$place/home" PATH="$(dirname "$python"):$PATH"
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME VIRTUAL_ENV PYTHONPATH PYTHONHOME
git clone --quiet "$root" "$place/lockstep"
cd "$place/lockstep"

if [ $# -gt 0 ]; then
    commands=$(printf '%s\n' "$@")
else
    commands=$(sed -n '/^## Two commands$/,/^## /p' README.md | sed -n '/^```sh/,/^```$/p' | sed '1d;$d')
    [ "$(wc -l <<<"$commands")" -eq 2 ] || fail "the README has other than two commands: $commands"
fi
while read -r command; do
    begun=$SECONDS
    echo "=== $command"
    bash -c "$command" </dev/null || fail "exit $? of: $command"
    echo "=== $command: $((SECONDS - begun)) s, $(du -sm .venv | cut -f1) MB installed"
done <<<"$commands"

echo "=== uninstalling"
.venv/bin/python -m pip uninstall --quiet --yes lockstep-llm
for name in lockstep lockstep-verify; do
    [ ! -e ".venv/bin/$name" ] || fail "$name is still there"
done
(cd / && ! "$place/lockstep/.venv/bin/python" -c 'import lockstep' 2>/dev/null) || fail "lockstep is still there"
(cd / && ! "$place/lockstep/.venv/bin/python" -c 'import lockstep_verify' 2>/dev/null) \
    || fail "lockstep_verify is still there"
make --silent clean
left=$(git status --porcelain --ignored | grep -v '^!! results/$' || true)
[ -z "$left" ] || fail "left behind in the checkout: $left"
# pip keeps a cache, and asks rustc for its version, for which a proxy of rustup makes a folder.
left=$(find "$HOME" -mindepth 1 -maxdepth 1 ! -name .cache ! -name .rustup)
[ -z "$left" ] || fail "left behind in the home: $left"
echo "=== fresh clone: all done, nothing left behind but results/"
