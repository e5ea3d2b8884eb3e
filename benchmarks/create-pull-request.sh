#!/usr/bin/env bash
# What a workflow with create-pull-request sends, by its documentation: a checkout, the changes, a
# commit on a branch of their own, a push, a pull request. Only there to be measured.
# API_URL says where to, GH_ENTERPRISE_TOKEN as whom, TARGET_REPO what; the definition file is the
# first argument.
set -euo pipefail

definitions=$1
base=main work=chore/add-scaffold-files

# The checkout
git init --quiet --initial-branch="$base" checkout
cd checkout
git remote add origin "$API_URL/$TARGET_REPO.git"
git fetch --quiet --no-tags --depth=1 origin "+refs/heads/$base:refs/remotes/origin/$base"
git checkout --quiet --force -B "$base" "refs/remotes/origin/$base"

# A step of the workflow
while IFS=$'\t' read -r path content; do
  [[ -e $path ]] && continue
  [[ $path != */* ]] || mkdir -p "${path%/*}"
  base64 --decode <<<"$content" >"$path"
done < <(jq -r '.[] | [.path, (.content // "\n" | @base64)] | @tsv' "$definitions")

# The action: the changes are kept on a branch that has no other purpose, until it is known what the
# branch of the pull request holds.
git checkout --quiet -b temporary
git add -A
git commit --quiet -m 'chore: add scaffold files'
git checkout --quiet "$base"
git reset --quiet --hard "origin/$base"
git fetch --quiet --force --depth=11 origin "$work:refs/remotes/origin/$work" 2>/dev/null || :
git checkout --quiet -B "$work" temporary
git push --quiet --force-with-lease origin "$work:refs/heads/$work"
jq -n --arg head "$work" --arg base "$base" \
  '{head: $head, base: $base, title: "chore: add scaffold files", body: ""}' |
  curl --silent --show-error --fail --output /dev/null --data @- \
    --header "Authorization: Bearer $GH_ENTERPRISE_TOKEN" "$API_URL/repos/$TARGET_REPO/pulls"
