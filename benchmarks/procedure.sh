#!/usr/bin/env bash
# The same procedure around GitHub's own client (`gh`) and a JSON processor (`jq`), as one
# would write it: the same calls in the same order, one after another. Only there to be measured.
# API_URL says where to, GH_ENTERPRISE_TOKEN as whom, TARGET_REPO what; the definition file is the
# first argument.
set -euo pipefail

definitions=$1
work=chore/add-scaffold-files
created=0 skipped=0 failed=0

gh api "$API_URL/rate_limit" --silent
base=$(gh api "$API_URL/repos/$TARGET_REPO" --jq .default_branch)
head=$(gh api "$API_URL/repos/$TARGET_REPO/git/ref/heads/$base" --jq .object.sha)

missing=()
while IFS= read -r path; do
  if gh api "$API_URL/repos/$TARGET_REPO/contents/$path?ref=$head" --silent 2>/dev/null; then
    skipped=$((skipped + 1))
  else
    missing+=("$path")
  fi
done < <(jq -r '.[].path' "$definitions")

if ((${#missing[@]})); then
  gh api "$API_URL/repos/$TARGET_REPO/git/refs" --silent -f "ref=refs/heads/$work" -f "sha=$head"
  for path in "${missing[@]}"; do
    content=$(jq -r --arg path "$path" \
      '.[] | select(.path == $path) | .content // "\n" | @base64' "$definitions")
    if gh api --method PUT "$API_URL/repos/$TARGET_REPO/contents/$path" --silent \
      -f "message=chore: add $path" -f "content=$content" -f "branch=$work"; then
      created=$((created + 1))
    else
      failed=$((failed + 1))
    fi
  done
  if ((created)); then
    # One call, where `gh pr create` asks several times.
    gh api "$API_URL/repos/$TARGET_REPO/pulls" --silent -f "head=$work" -f "base=$base" \
      -f 'title=chore: add scaffold files' -f "body=Created: $created"
  fi
fi
printf '%s\n' "Created: $created" "Skipped: $skipped" "Failed: $failed"
