# SPDX-License-Identifier: BSL-1.0
# Configures, builds and runs a consumer project as a user would, in an empty folder.
# cmake -DPROJECT=folder -DWORK=scratch folder -DCOMPILER=... -DGENERATOR=... [-DINSTALL_FROM=build folder] -P use.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE got)
  if(NOT got STREQUAL 0)
    message(FATAL_ERROR "exit ${got}: ${ARGN}")
  endif()
endfunction()

set(prefix ${WORK}/installed)
if(INSTALL_FROM)
  run(${CMAKE_COMMAND} --install ${INSTALL_FROM} --prefix ${prefix} --component devel)
  if(EXISTS ${prefix}/bin OR EXISTS ${prefix}/lib)
    message(FATAL_ERROR "more than headers and their package files was installed")
  endif()
endif()
run(${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/app)

find_program(PKG_CONFIG pkg-config)
if(INSTALL_FROM AND PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/share/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags cmdq OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(flags)
  run(${COMPILER} ${flags} -fsyntax-only ${PROJECT}/../hosted/main.cpp)
endif()
