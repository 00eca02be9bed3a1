# SPDX-License-Identifier: BSL-1.0
# cmdq::cmdq: the header-only library, its installation, its CMake package and its pkg-config file.
include(CMakePackageConfigHelpers)

add_library(cmdq INTERFACE)
add_library(cmdq::cmdq ALIAS cmdq)
target_compile_features(cmdq INTERFACE cxx_std_20)
file(GLOB_RECURSE cmdq_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cmdq/*.hpp)
target_sources(cmdq INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${cmdq_headers})

install(TARGETS cmdq EXPORT cmdq-targets FILE_SET HEADERS)
install(EXPORT cmdq-targets NAMESPACE cmdq:: DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/cmdq)
configure_package_config_file(cmake/cmdq-config.cmake.in ${PROJECT_BINARY_DIR}/cmdq-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/cmdq)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmdq-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(cmake/cmdq.pc.in ${PROJECT_BINARY_DIR}/cmdq.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmdq-config.cmake ${PROJECT_BINARY_DIR}/cmdq-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/cmdq)
install(FILES ${PROJECT_BINARY_DIR}/cmdq.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
