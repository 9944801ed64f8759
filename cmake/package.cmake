# A Debian package of everything: `make package` configures a build for the prefix /usr and runs CPack in it.
#
# The Python package is a component of its own, which `make install` leaves out. Its place is where the Python of the
# distribution looks: below /usr that does not depend on the version of Python, elsewhere it does.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(NOLI_PYTHON_DEFAULT lib/python3/dist-packages)
else()
  find_program(NOLI_PYTHON_PROGRAM NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  set(NOLI_PYTHON_FOLDER "python3")
  if(NOLI_PYTHON_PROGRAM)
    execute_process(COMMAND ${NOLI_PYTHON_PROGRAM} -c "import sys; print('python%d.%d' % sys.version_info[:2])"
      OUTPUT_VARIABLE NOLI_PYTHON_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr/local")
    set(NOLI_PYTHON_DEFAULT lib/${NOLI_PYTHON_FOLDER}/dist-packages)
  else()
    set(NOLI_PYTHON_DEFAULT lib/${NOLI_PYTHON_FOLDER}/site-packages)
  endif()
endif()
set(NOLI_PYTHON_DIR ${NOLI_PYTHON_DEFAULT} CACHE STRING "Where the Python package is installed, relative to the prefix")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/noli DESTINATION ${NOLI_PYTHON_DIR} COMPONENT python EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.py" PATTERN "*.h" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# documents
set(NOLI_DOC_DIR share/doc/noli)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${NOLI_DOC_DIR} COMPONENT doc EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "*.csv" PATTERN "scene.schema.json")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${NOLI_DOC_DIR} COMPONENT doc EXCLUDE_FROM_ALL
  PATTERN "__pycache__" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/deb/copyright DESTINATION ${NOLI_DOC_DIR} COMPONENT doc EXCLUDE_FROM_ALL)
find_program(NOLI_GZIP gzip)
if(NOLI_GZIP)
  set(NOLI_CHANGELOG ${PROJECT_BINARY_DIR}/changelog.gz)
  execute_process(COMMAND ${NOLI_GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md OUTPUT_FILE ${NOLI_CHANGELOG})
  install(FILES ${NOLI_CHANGELOG} DESTINATION ${NOLI_DOC_DIR} COMPONENT doc EXCLUDE_FROM_ALL)
endif()

# All components in one file. The library and the program do without Python, so its packages are only recommended.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME noli)
set(CPACK_PACKAGE_CONTACT "The Noli authors <noreply@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL noli python doc)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of deformable bodies in frictional contact")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Solids, shells, cloth, rods and particles in contact: from a valid start, surfaces never
 intersect and elements never invert. The program noli, the library libnoli with its headers, the
 Python package noli, examples and documents.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-cffi, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-meshio, paraview, pkg-config")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/deb/postinst ${PROJECT_SOURCE_DIR}/cmake/deb/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
