# SPDX-License-Identifier: BSL-1.0
# cmdq_c_library(NAME [ALLOCATION combining] [COMPLETION poll_cons]): a static library with the C interface
# (<cmdq/c/cmdq.h>) in that configuration. Freestanding: it needs the functions cmdq_port_* of the program and nothing
# else. A C++20 compiler builds it; the program itself may be all C.
function(cmdq_c_library name)
  cmake_parse_arguments(PARSE_ARGV 1 wanted "" "ALLOCATION;COMPLETION" "")
  if(wanted_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cmdq_c_library: unknown argument ${wanted_UNPARSED_ARGUMENTS}; known are ALLOCATION and COMPLETION")
  endif()
  add_library(${name} STATIC ${CMDQ_C_SOURCES}/cmdq.cpp ${CMDQ_C_SOURCES}/smmuv3.cpp)
  target_link_libraries(${name} PUBLIC cmdq::cmdq)
  target_compile_options(${name} PRIVATE -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  foreach(policy ALLOCATION COMPLETION)
    if(wanted_${policy})
      target_compile_definitions(${name} PRIVATE CMDQ_C_${policy}=${wanted_${policy}})
    endif()
  endforeach()
  # The C program is linked by the C compiler: it brings no C++ library, and none is needed.
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
