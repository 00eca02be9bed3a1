#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Tests cmdq-check itself: exit statuses, replay, shards that merge, and that a wrong thing is noticed.
set -u
check=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

expect() {  # expect STATUS COMMAND...
  local wanted=$1
  shift
  "$@" >"$work/out" 2>&1
  local got=$?
  if [ "$got" -ne "$wanted" ]; then
    echo "status $got, expected $wanted: $*"
    cat "$work/out"
    failed=1
  fi
}
says() {  # says TEXT: in the output of the last command
  if ! grep -q -- "$1" "$work/out"; then
    echo "no '$1' in:"
    cat "$work/out"
    failed=1
  fi
}

expect 0 "$check" list
says self/message_passing
expect 2 "$check"
expect 2 "$check" run --shard 3/2
expect 2 "$check" run --bound x
expect 2 "$check" run no_such_scenario
expect 2 "$check" replay no_such_scenario
expect 2 "$check" replay self/message_passing --weaken valid_mark=strong
expect 2 "$check" merge "$work/none.json"

# A mutant is found, told, and found again from its state; without the mutant the same scenario passes.
expect 0 "$check" replay self/message_passing --weaken valid_mark=relaxed
says "DATA RACE"
says valid_mark
expect 1 "$check" replay self/message_passing
expect 0 "$check" replay wrong/lock_unlock_stores_zero_starves
says LIVELOCK

# A wrong variant found through `run` would be a failure: its replay command works.
expect 0 "$check" replay self/message_passing --schedule random --weaken valid_wait=relaxed

# Shards: GNU parallel is the engine where there is one.
shards="1 2 3"
one='"$0" run self --schedule random --iterations 250000 --shard $1/3 --json $2/$1.json'
if command -v parallel >/dev/null; then
  parallel bash -c "'$one'" "$check" {} "$work" ::: $shards >/dev/null 2>&1
else
  for i in $shards; do bash -c "$one" "$check" "$i" "$work" >/dev/null; done
fi
expect 0 "$check" merge "$work"/1.json "$work"/2.json "$work"/3.json --json "$work/all.json"
says "250000 executions"
expect 1 "$check" merge "$work"/1.json "$work"/3.json
says "shard 2 of 3 is missing"
expect 2 "$check" merge "$work"/1.json "$work"/1.json
exit $failed
