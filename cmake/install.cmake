# Headers, libraries, program, and what other projects find them by (pkg-config, find_package).
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME noli)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/noli DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(TARGETS noli noli_import EXPORT noliTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET noli_program)
  install(TARGETS noli_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT noliTargets NAMESPACE noli:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/noli)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/noliConfig.cmake.in
  ${PROJECT_BINARY_DIR}/noliConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/noli)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/noliConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/noliConfig.cmake ${PROJECT_BINARY_DIR}/noliConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/noli)

# Relative to the place of the file, so that an installation may be moved.
file(RELATIVE_PATH NOLI_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" NOLI_PC_PREFIX "${NOLI_PC_PREFIX}")
# The loader does not look into a prefix of one's own; where a distribution installs, it does.
set(NOLI_PC_RPATH " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(NOLI_PC_RPATH "")
endif()
foreach(library noli noli_import)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
