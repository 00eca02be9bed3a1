# SPDX-License-Identifier: BSL-1.0
# Writes OUT, a header with the commit of SOURCE, if it has changed. Run at every build.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define CMDQ_BENCH_COMMIT \"${commit}\"\n" @ONLY)
