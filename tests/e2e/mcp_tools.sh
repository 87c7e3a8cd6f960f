#!/usr/bin/env bash
# MCP's own tools against a running Perdure: the Inspector, the conformance suite, Claude Code with its plugin, and the
# desktop extension.
#
# Installs Node 22 and pinned versions of the three into build/node (npm's own registry settings apply), starts a Perdure
# of its own on a free port, and stops it at the end. Usage: mcp_tools.sh [inspector] [conformance] [claude] [plugin] [mcpb] [tokens]
set -euo pipefail
cd "$(dirname "$0")/../.."

NODE_PACKAGE=22
INSPECTOR=2.12.0
CONFORMANCE=0.2.0-alpha.12
CLAUDE=2.1.332

PARTS=("$@")
[ ${#PARTS[@]} -gt 0 ] || PARTS=(inspector conformance claude plugin mcpb tokens)

for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "mcp-tools: skipped, $tool is not installed"; exit 0; }
done
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  Darwin-x86_64) platform=darwin-x64 ;;
  *) echo "mcp-tools: skipped, no Node package for this platform"; exit 0 ;;
esac

PYTHON=${PYTHON:-$PWD/.venv/bin/python}
tools=$PWD/build/node
mkdir -p "$tools"
wanted="node $NODE_PACKAGE inspector $INSPECTOR conformance $CONFORMANCE claude $CLAUDE $platform"
if [ "$(cat "$tools/.installed" 2>/dev/null)" != "$wanted" ]; then
  echo "mcp-tools: installing into build/node (700 MB) ..."
  [ -f "$tools/package.json" ] || echo '{"private": true}' > "$tools/package.json"
  (cd "$tools" && npm install --no-audit --no-fund --loglevel=error \
    "node-$platform@$NODE_PACKAGE" "@modelcontextprotocol/inspector@$INSPECTOR" \
    "@modelcontextprotocol/conformance@$CONFORMANCE" "@anthropic-ai/claude-code@$CLAUDE") \
    || { echo "mcp-tools: skipped, npm could not install the tools"; exit 0; }
  echo "$wanted" > "$tools/.installed"
fi
export PATH="$tools/node_modules/node-$platform/bin:$tools/node_modules/.bin:$PATH"

work=$(mktemp -d)
port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
for name in $(env | sed -n 's/^\(PERDURE_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export PERDURE_HOME=$work/home PERDURE_PORT=$port PERDURE_EMBEDDING_PROVIDER=test PYTHONPATH=$PWD/services
url=http://127.0.0.1:$port/mcp
bridge=("$PYTHON" -m perdure.bridge.main)
perdure() { "$PYTHON" -m perdure.cli.main "$@"; }
finish() {
  perdure down >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
perdure up --detach >/dev/null
perdure add "The staging database listens on port 6543" -p shop >/dev/null

failures=0
passed() { echo "  pass  $1"; }
failed() { echo "  FAIL  $1"; sed 's/^/        /' "$work/out" | tail -25; failures=$((failures + 1)); }
check() { # check NAME PATTERN STATUS COMMAND...: the command ends with STATUS and says PATTERN
  local name=$1 pattern=$2 status=$3 got=0
  shift 3
  timeout 120 "$@" >"$work/out" 2>&1 </dev/null || got=$?
  if [ "$got" = "$status" ] && grep -Eq -- "$pattern" "$work/out"; then passed "$name"; else echo "status $got" >>"$work/out"; failed "$name"; fi
}

inspector() {
  echo "Inspector $INSPECTOR"
  local era way
  local -a to
  for era in legacy modern; do
    for way in http bridge; do
      if [ "$way" = http ]; then
        to=("$url" --transport http)
      else
        to=("${bridge[@]}" -e "PERDURE_URL=http://127.0.0.1:$port" -e "PYTHONPATH=$PYTHONPATH" -e "PERDURE_HOME=$PERDURE_HOME")
      fi
      local cli=(mcp-inspector --cli "${to[@]}" --protocol-era "$era" --format json -q)
      check "tools/list --strict, $way, $era" '"memory_search"' 0 "${cli[@]}" --method tools/list --strict
      check "memory_save, $way, $era" 'Memory saved|Already known' 0 \
        "${cli[@]}" --method tools/call --tool-name memory_save --tool-arg "content=Inspected over $way in the $era era"
      check "memory_search, $way, $era" 'port 6543' 0 \
        "${cli[@]}" --method tools/call --tool-name memory_search --tool-arg "query=staging database port"
      check "an error a model can act on, $way, $era" 'isError' 5 \
        "${cli[@]}" --method tools/call --tool-name memory_get --tool-arg "id=01900000-0000-7000-8000-00000000dead"
    done
  done
}

conformance_run() { # REVISION SCENARIO [OPTION...]
  local revision=$1 scenario=$2
  shift 2
  check "$scenario, $revision" 'Passed: [0-9]+/[0-9]+' 0 conformance server --url "http://localhost:$port/mcp" \
    --scenario "$scenario" --spec-version "$revision" -o "$work/conformance" "$@"
}

conformance_all() {
  echo "Conformance $CONFORMANCE (scenarios that need no fixture)"
  local scenario
  for scenario in server-initialize ping tools-list resources-list prompts-list tools-call-error completion-complete \
    server-session-lifecycle server-sse-multiple-streams dns-rebinding-protection; do
    conformance_run 2025-11-25 "$scenario"
  done
  for scenario in tools-list resources-list prompts-list tools-call-error completion-complete caching \
    sep-2164-resource-not-found http-header-validation dns-rebinding-protection; do
    conformance_run 2026-07-28 "$scenario"
  done
  # with a list of failures to expect a warning is a failure too, so only this scenario has it
  conformance_run 2026-07-28 server-stateless --expected-failures tests/e2e/mcp_expected_failures.yml
}

claude_code() {
  echo "Claude Code $CLAUDE (an empty HOME, no login)"
  mkdir -p "$work/claude"
  local claude=(env "HOME=$work/claude" DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude)
  check "claude mcp add, http" 'Added' 0 "${claude[@]}" mcp add --transport http perdure-http "$url" -s user
  check "claude mcp add, bridge" 'Added' 0 "${claude[@]}" mcp add perdure-bridge -s user \
    -e "PERDURE_URL=http://127.0.0.1:$port" -e "PYTHONPATH=$PYTHONPATH" -e "PERDURE_HOME=$PERDURE_HOME" -- "${bridge[@]}"
  check "claude mcp list, http" 'perdure-http: .*Connected' 0 "${claude[@]}" mcp list
  check "claude mcp list, bridge" 'perdure-bridge: .*Connected' 0 "${claude[@]}" mcp list
}

plugin() {
  echo "Claude Code plugin (an empty HOME, no login)"
  mkdir -p "$work/claude3"
  # the commands as an installation puts them on the PATH
  mkdir -p "$work/bin"
  printf '#!/bin/sh\nexec "%s" -m perdure.bridge.main "$@"\n' "$PYTHON" >"$work/bin/perdure-bridge"
  printf '#!/bin/sh\nexec "%s" -m perdure.hooks "$@"\n' "$PYTHON" >"$work/bin/perdure-hook"
  chmod +x "$work/bin/"*
  local claude=(env "HOME=$work/claude3" "PATH=$work/bin:$PATH" DISABLE_AUTOUPDATER=1
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude)
  check "claude plugin validate --strict" 'Validation passed' 0 \
    "${claude[@]}" plugin validate --strict --profile directory deploy/claude-plugin
  check "claude plugin validate --strict, marketplace" 'Validation passed' 0 "${claude[@]}" plugin validate --strict .
  check "claude plugin marketplace add" 'added marketplace: perdure' 0 "${claude[@]}" plugin marketplace add "$PWD"
  check "claude plugin install" 'installed plugin: perdure@perdure' 0 "${claude[@]}" plugin install perdure@perdure
  check "claude plugin list" 'perdure@perdure' 0 "${claude[@]}" plugin list
  check "claude plugin details" 'memory' 0 "${claude[@]}" plugin details perdure@perdure
  check "claude mcp list, plugin" 'plugin:perdure:memory: .*Connected' 0 "${claude[@]}" mcp list
  check "claude -p, the plugin's hooks, tools and commands reach a scripted model" 'all reached the model' 0 \
    env "PYTHONPATH=$PYTHONPATH:$PWD/tests" "$PYTHON" tests/e2e/plugin_session.py "${claude[@]}"
}

mcpb() {
  echo "Desktop extension"
  local packed
  check "make mcpb" 'perdure-.*mcpb' 0 env "PYTHON=$PYTHON" bash deploy/mcpb/build.sh
  packed=$(ls build/perdure-*.mcpb)
  check "mcpb unpack" . 0 build/mcpb-tools/node_modules/.bin/mcpb unpack "$packed" "$work/mcpb"
  # isolated: nothing but the standard library and what was unpacked
  local cli=(env -u PYTHONPATH mcp-inspector --cli "$PYTHON" -I -S "$work/mcpb/server/main.py" -e "PERDURE_HOME=$PERDURE_HOME"
    -e "PERDURE_PORT=$port" -e 'PERDURE_URL=${user_config.url}' -e 'PERDURE_TOKEN=${user_config.token}' --protocol-era legacy --format json -q)
  check "the unpacked extension, tools/list" '"memory_search"' 0 "${cli[@]}" --method tools/list
  check "the unpacked extension, memory_save" 'Memory saved|Already known' 0 \
    "${cli[@]}" --method tools/call --tool-name memory_save --tool-arg "content=The unpacked extension was here"
  check "the unpacked extension, memory_search" 'extension was here' 0 \
    "${cli[@]}" --method tools/call --tool-name memory_search --tool-arg "query=which extension was here"
}

tokens() { # last, because it starts Perdure again with tokens
  echo "Tokens (Inspector and Claude Code)"
  local era token reader other
  perdure down >/dev/null
  PERDURE_AUTH=token perdure up --detach >/dev/null
  token=$(perdure token create -n default --json | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p')
  reader=$(perdure token create -n default --scopes read --json | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p')
  other=$(perdure token create -n other --create-namespace --json | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p')
  for era in legacy modern; do
    local cli=(mcp-inspector --cli "$url" --transport http --protocol-era "$era" --format json -q --method tools/call)
    local search=(--tool-name memory_search --tool-arg "query=staging database port")
    check "a good token finds, $era" 'port 6543' 0 "${cli[@]}" --header "Authorization: Bearer $token" "${search[@]}"
    check "another tenant's finds nothing, $era" '(N|n)o(thing| memory| match)' 0 \
      "${cli[@]}" --header "Authorization: Bearer $other" "${search[@]}"
    check "a reader is shown no tool that writes, $era" 'tool_not_found' 5 \
      "${cli[@]}" --header "Authorization: Bearer $reader" --tool-name memory_save --tool-arg "content=no"
    check "no token is no access, $era" . 3 "${cli[@]}" "${search[@]}"
  done
  mkdir -p "$work/claude2"
  local claude=(env "HOME=$work/claude2" DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude)
  check "claude mcp add, http with a token" 'Added' 0 \
    "${claude[@]}" mcp add --transport http perdure-http "$url" --header "Authorization: Bearer $token" -s user
  check "claude mcp add, bridge with a token" 'Added' 0 "${claude[@]}" mcp add perdure-bridge -s user \
    -e "PERDURE_URL=http://127.0.0.1:$port" -e "PYTHONPATH=$PYTHONPATH" -e "PERDURE_TOKEN=$token" -- "${bridge[@]}"
  check "claude mcp list, http with a token" 'perdure-http: .*Connected' 0 "${claude[@]}" mcp list
  check "claude mcp list, bridge with a token" 'perdure-bridge: .*Connected' 0 "${claude[@]}" mcp list
}

for part in "${PARTS[@]}"; do
  case $part in
    inspector) inspector ;;
    conformance) conformance_all ;;
    claude) claude_code ;;
    plugin) plugin ;;
    mcpb) mcpb ;;
    tokens) tokens ;;
    *) echo "mcp-tools: no part $part" >&2; exit 2 ;;
  esac
done
if [ "$failures" -gt 0 ]; then
  echo "mcp-tools: $failures failed"
  exit 1
fi
echo "mcp-tools: all passed"
