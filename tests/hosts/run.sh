#!/usr/bin/env bash
# The real coding tools against a running Perdure and a scripted model: installs Node 22 and the pinned tools into
# build/node (npm's own registry settings apply), then runs tests/hosts. What cannot be had is skipped, and said so.
# Usage: run.sh [pytest's options]
set -euo pipefail
cd "$(dirname "$0")/../.."

NODE_PACKAGE=22
PYTHON=${PYTHON:-$PWD/.venv/bin/python}

command -v npm >/dev/null || { echo "hosts: skipped, npm is not installed"; exit 0; }
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  Darwin-x86_64) platform=darwin-x64 ;;
  *) echo "hosts: skipped, no Node package for this platform"; exit 0 ;;
esac

tools=$PWD/build/node
mkdir -p "$tools"
wanted="$(PYTHONPATH=tests "$PYTHON" -c 'from support.real_clients import CLIENTS
for client in CLIENTS: print(f"{client.package}@{client.version}")') node-$platform@$NODE_PACKAGE"
if [ "$(cat "$tools/.installed-hosts" 2>/dev/null)" != "$wanted" ]; then
  echo "hosts: installing into build/node (1.5 GB) ..."
  [ -f "$tools/package.json" ] || echo '{"private": true}' > "$tools/package.json"
  # one by one, so that one that cannot be had does not keep out the others
  whole=yes
  for package in $wanted; do
    (cd "$tools" && npm install --no-audit --no-fund --loglevel=error "$package") \
      || { echo "hosts: npm could not install $package"; whole=; }
  done
  [ -z "$whole" ] || echo "$wanted" > "$tools/.installed-hosts"
fi
exec "$PYTHON" -m pytest -q -rs tests/hosts "$@"
