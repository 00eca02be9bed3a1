# SPDX-License-Identifier: BSL-1.0
# `cmdq simulate contention` as a user runs it: results, files, refusals.
function(run expected_code expected_text)
  execute_process(COMMAND ${CMDQ} ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code STREQUAL "${expected_code}" OR NOT "${out}${err}" MATCHES "${expected_text}")
    message(FATAL_ERROR "cmdq ${ARGN}\nexit ${code}, expected ${expected_code} and a match of: ${expected_text}\n${out}${err}")
  endif()
endfunction()

function(expect actual expected what)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "${what} is ${actual}, expected ${expected}")
  endif()
endfunction()

run(0 "8 combining +msi" simulate contention --topology soc-8 --time 200000 --json ${WORK}/soc.json
  --trace ${WORK}/soc.trace.json)
file(READ ${WORK}/soc.json json)
string(JSON rows LENGTH "${json}" rows)
expect(${rows} 16 "rows: 4 strategies at 1, 2, 4 and 8 CPUs")
string(JSON name GET "${json}" topology name)
expect("${name}" "8-CPU SoC" "topology.name")
file(READ ${WORK}/soc.trace.json trace)
string(JSON events LENGTH "${trace}" traceEvents)
if(events LESS 100)
  message(FATAL_ERROR "${events} events in the trace, expected hundreds")
endif()

# The same seed gives the same file, another seed another one.
foreach(seed 5 5 6)
  math(EXPR n "${n} + 1")
  run(0 "" simulate contention --topology server-64 --cpus 64 --time 200000 --seed ${seed} --json ${WORK}/seed${n}.json)
  file(SHA256 ${WORK}/seed${n}.json hash${n})
endforeach()
expect(${hash1} ${hash2} "hash of a repeated run")
if(hash1 STREQUAL hash3)
  message(FATAL_ERROR "seeds 5 and 6 give the same run")
endif()

run(2 "--cpus 9: the topology \"8-CPU SoC\" has 1 to 8 CPUs" simulate contention --topology soc-8 --cpus 9)
run(2 "--strategy magic: must be one of cmpxchg_loop/published, " simulate contention --strategy magic)
run(2 "nowhere.json: neither a readable file nor a shipped topology" simulate contention --topology nowhere.json)
# The time of a poll: one row each, and what is no time is refused.
run(0 "8 combining +msi +40" simulate contention --topology soc-8 --cpus 8 --strategy combining --time 50000
  --poll-ns none,40 --json ${WORK}/polls.json)
file(READ ${WORK}/polls.json json)
foreach(row 0 1)
  string(JSON poll GET "${json}" rows ${row} poll_ns)
  string(JSON reads GET "${json}" rows ${row} uncached_reads_per_list)
  string(JSON cons GET "${json}" rows ${row} cons_reads_per_list)
  list(APPEND polls ${poll})
endforeach()
expect("${polls}" "0.0;40.0" "poll_ns of the rows")
run(2 "--poll-ns often: must be \"none\", 0, or from 1 to 1e6 nanoseconds" simulate contention --poll-ns often)
run(2 "--poll-ns 0.5: must be" simulate contention --poll-ns 0.5)
run(2 "--time 5: must be a number from 1000 to 10000000000" simulate contention --time 5)
run(2 "--within lots: must be a percentage" simulate machines --within lots)
run(2 "nowhere.json" simulate machines --check nowhere.json)
file(WRITE ${WORK}/no_result.json "{\"machines\": []}")
run(2 "no_result.json: not a result of simulate machines" simulate machines --check ${WORK}/no_result.json)

run(0 "8 +500 queue +4 combining" simulate queues --topology soc-8 --cpus 8 --queues 1,4 --time 100000
  --json ${WORK}/queues.json)
file(READ ${WORK}/queues.json json)
string(JSON rows LENGTH "${json}" rows)
expect(${rows} 24 "rows: 3 CMD_SYNCs, 2 kinds of engine, 2 numbers of queues, 2 strategies")
run(2 "--queues" simulate queues --queues 500)

file(WRITE ${WORK}/broken.json "{\"name\": \"x\", \"source\": \"y\", \"sockets\": 0}")
run(2 "broken.json: field \"sockets\" is 0, must be an integer from 1 to 16" simulate contention --topology
  ${WORK}/broken.json)

