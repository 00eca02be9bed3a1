# SPDX-License-Identifier: BSL-1.0
cmake_minimum_required(VERSION 3.25)
# A project that has cmdq as a part of itself, and installs: cmdq's files are not among them, unless it asks for them.
function(installed out)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/source/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(whole LANGUAGES CXX)\n"
    "include(GNUInstallDirs)\nadd_subdirectory(${SOURCE} cmdq)\ninstall(FILES CMakeLists.txt DESTINATION share/whole)\n")
  foreach(step "-S;${WORK}/source;-B;${WORK}/build;-G;${GENERATOR};-DCMAKE_CXX_COMPILER=${COMPILER};${ARGN}"
      "--install;${WORK}/build;--prefix;${WORK}/prefix")
    execute_process(COMMAND ${CMAKE_COMMAND} ${step} RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT got STREQUAL 0)
      message(FATAL_ERROR "exit ${got}: ${step}\n${text}")
    endif()
  endforeach()
  file(GLOB_RECURSE files RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

installed(files)
if(NOT files STREQUAL "share/whole/CMakeLists.txt")
  message(FATAL_ERROR "installed besides its own file: ${files}")
endif()
installed(files -DCMDQ_INSTALL=ON)
if(NOT "include/cmdq/cmdq.hpp" IN_LIST files)
  message(FATAL_ERROR "CMDQ_INSTALL=ON installed only ${files}")
endif()
