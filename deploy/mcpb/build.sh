#!/usr/bin/env bash
# The desktop extension for Claude Desktop: build/perdure-<version>.mcpb, checked and packed with MCPB's own tool.
#
# Installs a pinned @anthropic-ai/mcpb into build/mcpb-tools (npm's own registry settings apply).
set -euo pipefail
cd "$(dirname "$0")/../.."

MCPB=2.1.2

for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "mcpb: skipped, $tool is not installed"; exit 0; }
done
tools=$PWD/build/mcpb-tools
mkdir -p "$tools"
if [ "$(cat "$tools/.installed" 2>/dev/null)" != "$MCPB" ]; then
  [ -f "$tools/package.json" ] || echo '{"private": true}' > "$tools/package.json"
  (cd "$tools" && npm install --no-audit --no-fund --loglevel=error "@anthropic-ai/mcpb@$MCPB") \
    || { echo "mcpb: skipped, npm could not install the packer"; exit 0; }
  echo "$MCPB" > "$tools/.installed"
fi
version=$("${PYTHON:-.venv/bin/python}" deploy/mcpb/assemble.py build/mcpb)
rm -f build/perdure-*.mcpb
"$tools/node_modules/.bin/mcpb" validate build/mcpb/manifest.json
"$tools/node_modules/.bin/mcpb" pack build/mcpb "build/perdure-$version.mcpb" | tail -12
echo "mcpb: build/perdure-$version.mcpb"
