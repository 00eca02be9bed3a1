# SPDX-License-Identifier: BSL-1.0
# Tests of `cmdq replay`: included by src/cli/CMakeLists.txt.
file(GLOB streams CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/*.cmds.csv)

cmdq_program(cmdq_replay_check_tests tests/replay_check.cpp replay_check.cpp replay_stream.cpp fields_text.cpp)
target_link_libraries(cmdq_replay_check_tests PRIVATE fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
add_test(NAME cli.replay.check COMMAND cmdq_replay_check_tests)
set_tests_properties(cli.replay.check PROPERTIES TIMEOUT 600 LABELS "cli;sanitize")

add_test(NAME cli.replay.input COMMAND ${CMAKE_COMMAND} -DCMDQ=$<TARGET_FILE:cmdq_cli> -DDATA=${PROJECT_SOURCE_DIR}/data
  -DWORK=${CMAKE_CURRENT_BINARY_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/replay.cmake)
set_tests_properties(cli.replay.input PROPERTIES TIMEOUT 1200 LABELS cli)

# A sanitizer build compiles the replay only.
set(replay_program cmdq_cli)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  file(GLOB replay_sources CONFIGURE_DEPENDS replay*.cpp)
  cmdq_program(cmdq_replay_only tests/replay_main.cpp fields_text.cpp ${replay_sources})
  target_link_libraries(cmdq_replay_only PRIVATE CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_definitions(cmdq_replay_only PRIVATE CMDQ_VERSION="${PROJECT_VERSION}")
  set(replay_program cmdq_replay_only)
endif()

# replay_test(NAME LABELS EXPECTED OPTIONS...): all recorded streams under the options; the last line must match. None of
# these is about time-outs: the deadline is one that no busy machine comes to.
function(replay_test name labels expected)
  add_test(NAME cli.replay.${name} COMMAND ${CMAKE_COMMAND} "-DMATCH=${expected}"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/expect.cmake $<TARGET_FILE:${replay_program}> replay ${streams}
    --deadline-ms 3600000 ${ARGN})
  set_tests_properties(cli.replay.${name} PROPERTIES TIMEOUT 3000 LABELS "${labels}")
endfunction()

set(every --completion cons,msi --threads 1,4,32,128 --entries 64,256,65536)
# 3 streams x 2 completions x 4 numbers of threads x 3 rings = 72 runs for each strategy. Those that claim before they
# look for space are refused where threads x longest list > entries: 5 pairs of threads and ring.
foreach(device inline thread)
  replay_test(matrix.cmpxchg_loop.${device} cli "all checks passed: 72 runs\n" --strategy cmpxchg_loop ${every}
    --device ${device})
  replay_test(matrix.owner_bits.${device} cli "all checks passed: 62 runs, 10 refused " --strategy owner_bits ${every}
    --device ${device} --skip-refused)
  replay_test(matrix.combining.${device} cli "all checks passed: 62 runs, 10 refused " --strategy combining ${every}
    --device ${device} --skip-refused)
endforeach()
# A device that takes its time gathers lists; sleepers must be woken; the published lock must let everybody through.
set(slow --device thread --command-ns 100 --sync-ns 1000 --completion cons,msi --threads 4,32)
replay_test(slow_device cli "all checks passed: 36 runs\n" --strategy cmpxchg_loop,owner_bits,combining ${slow})
replay_test(park cli "all checks passed: 36 runs\n" --strategy cmpxchg_loop,owner_bits,combining ${slow} --wait park)
replay_test(published_lock cli "all checks passed: 24 runs\n" --strategy cmpxchg_loop,owner_bits ${slow}
  --reclaim sync_locked)
# Threads that stop between claim and publication: their neighbours meet them there.
replay_test(disturbed cli "all checks passed: 36 runs\n" --strategy cmpxchg_loop,owner_bits,combining
  --completion cons,msi --threads 4,32 --device thread --yield-one-in 3)

# Groups gather before the ring; only combining has them.
replay_test(groups cli "all checks passed: 54 runs\n" --strategy combining --completion cons,msi --threads 4,32,128
  --entries 1024,4096,65536 --device thread --yield-one-in 5 --groups 3)
add_test(NAME cli.replay.groups_refused COMMAND ${CMAKE_COMMAND}
  "-DMATCH=owner_bits does not gather in groups: groups: 3, limit 1" -DEXIT=2 -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/expect.cmake
  $<TARGET_FILE:${replay_program}> replay ${streams} --strategy owner_bits --groups 3)
set_tests_properties(cli.replay.groups_refused PROPERTIES TIMEOUT 600 LABELS cli)

# What the sanitizers are for: every configuration at 32 threads. scripts/test runs these in its sanitizer builds.
set(at_32 --yield-one-in 10 --completion cons,msi --threads 32 --strategy)
foreach(device inline thread)
  replay_test(sanitize.${device} "cli;sanitize" "all checks passed: 18 runs\n" ${at_32}
    cmpxchg_loop,owner_bits,combining --device ${device})
  replay_test(sanitize.park.${device} "cli;sanitize" "all checks passed: 18 runs\n" ${at_32}
    cmpxchg_loop,owner_bits,combining --device ${device} --wait park)
  replay_test(sanitize.groups.${device} "cli;sanitize" "all checks passed: 6 runs\n" ${at_32} combining
    --entries 1024 --device ${device} --groups 4)
  replay_test(sanitize.published_lock.${device} "cli;sanitize" "all checks passed: 12 runs\n" ${at_32}
    cmpxchg_loop,owner_bits --device ${device} --reclaim sync_locked)
endforeach()
