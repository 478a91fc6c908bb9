#!/usr/bin/env bash
# Install the verifier beside whatever else there is, and verify. Called by action.yml, which sets
# SOURCE (these sources), CERTIFICATES (patterns), TRUST (a file) and EVIDENCE (a folder, or none).
set -euo pipefail
shopt -s nullglob

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet "$SOURCE"

# Patterns are meant to be split and expanded.
# shellcheck disable=SC2206
files=($CERTIFICATES)
if [ ${#files[@]} -eq 0 ]; then
    echo "no file matches: $CERTIFICATES" >&2
    exit 2
fi
options=(--trust "$TRUST" --state "$place")
if [ -n "$EVIDENCE" ]; then
    options+=(--evidence "$EVIDENCE")
fi
"$place/venv/bin/lockstep-verify" "${options[@]}" "${files[@]}"
