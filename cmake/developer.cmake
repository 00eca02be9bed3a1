# SPDX-License-Identifier: BSL-1.0
# What only this project's own targets get: warnings, threads, the way a program is declared, labels of tests.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

add_library(cmdq_warnings INTERFACE)
target_compile_options(cmdq_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # false with g++ 12 at -O3 on std::string's operator+ (GCC bug 105651)
  $<$<BOOL:${CMDQ_WERROR}>:-Werror>)

# cmdq_program(NAME SOURCES...): an executable with the library, threads and the project's warnings.
function(cmdq_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE cmdq::cmdq cmdq_warnings Threads::Threads)
endfunction()

# Tests named after a row of the collection of small inputs (rNN_..., alone or after the name of their program and a
# dot) carry the label r_rows: `ctest -L r_rows` runs them and nothing else. Called once per directory that adds tests,
# anywhere in it: its row tests, however they were added, get the label beside their own. property_tests.r_rows fails
# when a directory that has some does not call this.
function(cmdq_label_row_tests)
  cmake_language(DEFER CALL cmdq_label_row_tests_now)
endfunction()

function(cmdq_label_row_tests_now)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    get_property(labels TEST ${test} PROPERTY LABELS)
    if(test MATCHES "(^|\\.)r[0-9][0-9]_" AND NOT "r_rows" IN_LIST labels)
      set_property(TEST ${test} APPEND PROPERTY LABELS r_rows)
    endif()
  endforeach()
endfunction()

# A strategy that is not the library's, to be run in all programs and tests beside its own: see CONTRIBUTING.md.
set(CMDQ_OWN_STRATEGY "" CACHE FILEPATH "header with cmdq::allocation::NAME, where NAME.hpp is the file's name")
if(CMDQ_OWN_STRATEGY)
  get_filename_component(CMDQ_OWN_STRATEGY_FILE ${CMDQ_OWN_STRATEGY} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  get_filename_component(CMDQ_OWN_STRATEGY_NAME ${CMDQ_OWN_STRATEGY_FILE} NAME_WE)
  if(NOT EXISTS ${CMDQ_OWN_STRATEGY_FILE})
    message(FATAL_ERROR "CMDQ_OWN_STRATEGY: ${CMDQ_OWN_STRATEGY_FILE} does not exist")
  endif()
  add_compile_definitions(CMDQ_OWN_STRATEGY=${CMDQ_OWN_STRATEGY_NAME} CMDQ_OWN_STRATEGY_HEADER="${CMDQ_OWN_STRATEGY_FILE}")
endif()

# cmdq_strategies(OUT): the names in include/cmdq/allocation/strategies.hpp, in their order, and CMDQ_OWN_STRATEGY's.
function(cmdq_strategies out)
  set(list ${PROJECT_SOURCE_DIR}/include/cmdq/allocation/strategies.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(READ ${list} text)
  string(REGEX MATCHALL "  X\\([a-z_]+, (true|false)\\)" found "${text}")
  list(TRANSFORM found REPLACE "^  X\\(([a-z_]+),.*" "\\1")
  set(${out} ${found} ${CMDQ_OWN_STRATEGY_NAME} PARENT_SCOPE)
endfunction()

# cmdq_strategy_sources(OUT PREFIX TEMPLATE): one source per strategy, PREFIX_name.cpp where it has one of its own, else
# made from TEMPLATE.
function(cmdq_strategy_sources out prefix template)
  cmdq_strategies(strategies)
  set(sources "")
  foreach(strategy IN LISTS strategies)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${prefix}_${strategy}.cpp)
    if(NOT EXISTS ${source})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${prefix}_${strategy}.cpp)
      configure_file(${template} ${source} @ONLY)
    endif()
    list(APPEND sources ${source})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
