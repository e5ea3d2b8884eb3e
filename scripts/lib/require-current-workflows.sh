#!/usr/bin/env bash
# For jobs of release.yml that make a tag: ends with an error when the workflow files of main are no
# longer those of the commit that is released. GitHub then refuses the tag with a bare 403, because
# it would take the permission Workflows, which no GITHUB_TOKEN has:
# https://github.com/mkb79/Audible/pull/882, https://github.com/DataDog/datadog-agent/issues/54090
# The argument says what to do then.
set -euo pipefail

tree() {
  gh api "repos/$GITHUB_REPOSITORY/contents/.github?ref=$1" \
    --jq '.[] | select(.name == "workflows") | .sha'
}

released=$(tree "$GITHUB_SHA")
current=$(tree main)
if [[ -z $released || $released != "$current" ]]; then
  echo "::error::Workflow files changed on main since this run began, and GITHUB_TOKEN cannot make" \
    "a tag at a commit with other workflow files than main's. $1"
  exit 1
fi
