# SPDX-License-Identifier: BSL-1.0
# cmake -DBUILD=<build directory> -P check_row_tests.cmake: the label r_rows is on the tests named rNN_... and on no
# others.

cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --show-only=json-v1 WORKING_DIRECTORY ${BUILD} OUTPUT_VARIABLE listed
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "ctest --show-only=json-v1 fails in ${BUILD}")
endif()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} -N -L "^r_rows$" WORKING_DIRECTORY ${BUILD} OUTPUT_VARIABLE labelled)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} -N -R "(^|\\.)r[0-9][0-9]_" WORKING_DIRECTORY ${BUILD} OUTPUT_VARIABLE named)
if(NOT labelled STREQUAL named)
  message(FATAL_ERROR "With the label r_rows:\n${labelled}\nnamed rNN_...:\n${named}\n"
    "cmdq_label_row_tests() is missing in the directory of what differs, or the label was given by hand.")
endif()
if(named MATCHES "Total Tests: 0")
  message(FATAL_ERROR "no test is named rNN_...")
endif()
