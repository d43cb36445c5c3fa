#!/bin/sh
# Usage: sh examples/curl.sh [address] [key] [model], or TOLLGATE_URL, TOLLGATE_KEY and TOLLGATE_MODEL.
set -eu
url=${1:-${TOLLGATE_URL:-http://localhost:8080}}
key=${2:-${TOLLGATE_KEY:?Set TOLLGATE_KEY to an API key.}}
model=${3:-${TOLLGATE_MODEL:-default}}

# The whole reply at once.
curl --silent --show-error --fail-with-body "$url/v1/generate" \
  --header "Authorization: Bearer $key" \
  --header "Content-Type: application/json" \
  --data "{\"model\": \"$model\", \"input\": \"What is a ledger?\", \"max_output_tokens\": 60}"
echo

# The same while it is generated.
curl --silent --show-error --fail-with-body --no-buffer "$url/v1/generate" \
  --header "Authorization: Bearer $key" \
  --header "Content-Type: application/json" \
  --data "{\"model\": \"$model\", \"input\": \"What is a ledger?\", \"max_output_tokens\": 60, \"stream\": true}"
