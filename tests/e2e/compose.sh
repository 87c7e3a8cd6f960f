#!/usr/bin/env bash
# Builds the images, runs the compose file, and uses it as a stranger would: token, save, find, down, up, find again.
# Needs a Docker engine and docker-compose (or the compose plugin). Leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/../.."

compose() {
  if command -v docker-compose >/dev/null; then docker-compose --project-name perdure-test "$@"
  else docker compose --project-name perdure-test "$@"; fi
}
say() { printf '\n== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; compose logs --tail 30 >&2 || true; exit 1; }
finish() { compose down --volumes --remove-orphans >/dev/null 2>&1 || true; rm -f "$body"; }

command -v docker >/dev/null || { echo "skipped: there is no Docker on this machine"; exit 0; }
docker info >/dev/null 2>&1 || { echo "skipped: the Docker engine does not answer"; exit 0; }

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
PERDURE_INTERNAL_TOKEN=$(python3 -c 'import secrets; print(secrets.token_hex(32))')
export PERDURE_INTERNAL_TOKEN PERDURE_PUBLISH="127.0.0.1:$port"
export DOCKER_BUILDKIT=${DOCKER_BUILDKIT:-0} COMPOSE_DOCKER_CLI_BUILD=${COMPOSE_DOCKER_CLI_BUILD:-0}
url="http://127.0.0.1:$port"
body=$(mktemp)
trap finish EXIT

call() {  # call STATUS curl-arguments...: the body on stdout, or a failure that shows it
  local want=$1 got; shift
  got=$(curl --silent --show-error --output "$body" --write-out '%{http_code}' --max-time 30 "$@") || true
  [ "$got" = "$want" ] || fail "wanted status $want, got $got: $(head -c 500 "$body")"
  cat "$body"
}
wait_ready() {
  for _ in $(seq 120); do
    [ "$(curl --silent --output /dev/null --write-out '%{http_code}' --max-time 5 "$url/readyz")" = 200 ] && return
    sleep 1
  done
  fail "the gateway did not become ready: $(curl --silent "$url/readyz")"
}

say "build"
compose build --quiet >"$body" 2>&1 || { tail -30 "$body" >&2; fail "build"; }

say "up"
compose up --detach >/dev/null 2>&1 || fail "up"
wait_ready

say "no token: refused"
call 401 "$url/memories/stats" >/dev/null

say "two tenants, a token each"
token_for() {
  compose run --rm --no-deps -T gateway perdure token create --namespace "$1" --create-namespace --json 2>/dev/null \
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["secret"])'
}
one=$(token_for one); two=$(token_for two)
[ -n "$one" ] && [ -n "$two" ] || fail "no token was made"

say "save as one"
saved=$(call 201 -X POST "$url/memories" -H "Authorization: Bearer $one" -H 'Content-Type: application/json' \
  -d '{"content": "The staging database listens on port 6543", "type": "fact", "project": "shop"}')
id=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["id"])' "$saved")

found() {  # found TOKEN: the ids of the recalled memories
  call 200 -G "$url/memories/search" -H "Authorization: Bearer $1" --data-urlencode 'q=which port does the staging database use' \
    | python3 -c 'import json, sys; print(*(hit["id"] for hit in json.load(sys.stdin)["recall"]))'
}
say "found by one, not by two"
[ "$(found "$one")" = "$id" ] || fail "one does not find its memory"
[ -z "$(found "$two")" ] || fail "two finds a memory of one"
call 404 "$url/memories/$id" -H "Authorization: Bearer $two" >/dev/null

say "down, up, still there"
compose down >/dev/null 2>&1
compose up --detach >/dev/null 2>&1 || fail "second up"
wait_ready
[ "$(found "$one")" = "$id" ] || fail "the memory did not survive down and up"

say "no process runs as root, nothing but the gateway is published"
for service in embedding retrieval maintenance worker beat gateway; do
  uid=$(compose exec -T "$service" id -u | tr -d '\r')
  [ "$uid" != 0 ] || fail "$service runs as root"
done
[ "$(docker ps --filter label=com.docker.compose.project=perdure-test --format '{{.Ports}}' | grep -c -- '->')" = 1 ] || fail "more than one published port"

printf '\ncompose test: 1 passed, 0 failed\n'
