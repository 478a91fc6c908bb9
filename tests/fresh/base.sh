#!/usr/bin/env bash
# Installs the distribution alone, with nothing but what it depends on, and verifies the committed
# evidence by it, with each Python of 3.11, 3.12 and 3.13 that is present.
#
#   tests/fresh/base.sh           the Pythons that are present
#   tests/fresh/base.sh 3.12      this one
#
# Needs git and the package index. Exit status 1 if one fails, or if none is present.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
pyenv=$(command -v pyenv >/dev/null && pyenv root || echo /nonexistent)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() { echo "base install: $*" >&2; exit 1; }

find_python() {
    local found
    for found in "$(command -v "python$1" || true)" "$pyenv"/versions/"$1".*/bin/python"$1"; do
        if [ -x "$found" ] && "$found" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            "$found" -c 'import sys; print(sys.executable)'
            return
        fi
    done
}

mkdir "$place/sources" "$place/home"
git -C "$root" archive HEAD | tar -x -C "$place/sources"
export HOME="$place/home"
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME VIRTUAL_ENV PYTHONPATH PYTHONHOME
count=$(ls "$place"/sources/evidence/*.cert.json | wc -l)
ran=0 absent=0
for version in ${@:-3.11 3.12 3.13}; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        echo "Python $version: not present"
        absent=$((absent + 1))
        continue
    fi
    venv="$place/$version"
    "$python" -m venv "$venv"
    before=$(du -sm "$venv" | cut -f1)
    begun=$SECONDS
    "$venv/bin/python" -m pip install --quiet "$place/sources"
    took=$((SECONDS - begun)) size=$(($(du -sm "$venv" | cut -f1) - before))
    extra=$("$venv/bin/python" -m pip list --format=freeze | cut -d= -f1 \
        | grep -vxE 'lockstep-llm|cryptography|cffi|pycparser|pip|setuptools|typing_extensions' || true)
    [ -z "$extra" ] || fail "more than the base was installed: $extra"
    cd "$place/home"
    begun=$SECONDS
    said=$("$venv/bin/lockstep-verify" --trust "$place/sources/evidence/trust.json" \
        "$place"/sources/evidence/*.cert.json) \
        || fail "exit $? under Python $version: $(grep -E '^[A-Z][A-Z0-9_]+ ' <<<"$said" | grep -v '^OK ')"
    verified=$(grep -c '^OK ' <<<"$said")
    [ "$verified" -eq "$count" ] || fail "$verified of $count verified under Python $version"
    echo "Python $version: installed $size MB in $took s; $verified of $count certificates verified in $((SECONDS - begun)) s"
    "$venv/bin/python" -m pip uninstall --quiet --yes lockstep-llm
    left=$(find "$venv" -iname '*lockstep*')
    [ -z "$left" ] || fail "left behind: $left"
    ran=$((ran + 1))
done
[ "$ran" -gt 0 ] || fail "no Python is present"
echo "$ran passed, 0 failed, $absent not present"
