# SPDX-License-Identifier: BSL-1.0
# A quick run of every contender, which checks itself, and the bars on instruction counts.
cmdq_label_row_tests()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(CMDQ_VALGRIND valgrind)

function(cmdq_bench_test name)
  add_test(NAME bench.${name} COMMAND ${ARGN})
  set_tests_properties(bench.${name} PROPERTIES TIMEOUT 3000 LABELS bench)
endfunction()

cmdq_bench_test(contention cmdq_bench --set quick --benchmark_filter=^contention)
cmdq_bench_test(one_thread cmdq_bench --benchmark_filter=^one_thread --benchmark_min_time=0.01)
cmdq_bench_test(no_such_benchmark sh -c "$<TARGET_FILE:cmdq_bench> --benchmark_filter=none && exit 9 || test $? = 1")
cmdq_bench_test(bad_input sh -c "$<TARGET_FILE:cmdq_bench> --set none && exit 9 || test $? = 2")
cmdq_program(cmdq_bench_checks contention/checks_test.cpp contention/run.cpp)
target_link_libraries(cmdq_bench_checks PRIVATE Boost::headers fmt::fmt)
cmdq_bench_test(sees_defects cmdq_bench_checks)
cmdq_bench_test(no_stats ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/instructions/no_stats.py
  ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/instructions/no_stats.cpp)
# The bars hold for the release build of GCC; a debug build or a sanitizer says nothing about them.
if(CMDQ_VALGRIND AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmdq_bench_test(instructions ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/instructions
    --program $<TARGET_FILE:cmdq_insert>)
endif()

find_program(CMDQ_GNUPLOT gnuplot)
file(GLOB results CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/results/*.json)
if(CMDQ_GNUPLOT AND results)
  list(GET results 0 result)
  cmdq_bench_test(page ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/bench --from ${result}
    --out ${CMAKE_CURRENT_BINARY_DIR}/page/page)
endif()
