# SPDX-License-Identifier: BSL-1.0
# cmake -DPROGRAM=... -DARGUMENTS=list -DSAID=text -P refuses.cmake: exit code 2, and the text on standard error.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE said)
string(FIND "${said}" "${SAID}" at)
if(NOT code EQUAL 2 OR at EQUAL -1)
  message(FATAL_ERROR "exit ${code}, said: ${said}")
endif()
