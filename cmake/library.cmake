# SPDX-License-Identifier: BSL-1.0
# cmdq::cmdq: the header-only library, its installation, its CMake package and its pkg-config file.
include(CMakePackageConfigHelpers)

set(CMDQ_C_SOURCES ${PROJECT_SOURCE_DIR}/src/c CACHE INTERNAL "what cmdq_c_library() compiles")
include(${CMAKE_CURRENT_LIST_DIR}/cmdq-c.cmake)

add_library(cmdq INTERFACE)
add_library(cmdq::cmdq ALIAS cmdq)
target_compile_features(cmdq INTERFACE cxx_std_20)
file(GLOB_RECURSE cmdq_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cmdq/*.hpp ${PROJECT_SOURCE_DIR}/include/cmdq/*.h)
target_sources(cmdq INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${cmdq_headers})

if(NOT CMDQ_INSTALL)
  return()
endif()
install(TARGETS cmdq EXPORT cmdq-targets FILE_SET HEADERS COMPONENT devel)
install(EXPORT cmdq-targets NAMESPACE cmdq:: DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/cmdq COMPONENT devel)
configure_package_config_file(cmake/cmdq-config.cmake.in ${PROJECT_BINARY_DIR}/cmdq-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/cmdq PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmdq-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(cmake/cmdq.pc.in ${PROJECT_BINARY_DIR}/cmdq.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmdq-config.cmake ${PROJECT_BINARY_DIR}/cmdq-config-version.cmake cmake/cmdq-c.cmake
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/cmdq COMPONENT devel)
install(FILES ${PROJECT_BINARY_DIR}/cmdq.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT devel)
# What the C interface is built from.
install(FILES src/c/cmdq.cpp src/c/smmuv3.cpp src/c/port.hpp src/c/values.hpp DESTINATION ${CMAKE_INSTALL_DATADIR}/cmdq/c
  COMPONENT devel)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT devel)
