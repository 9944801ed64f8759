# Tests that are scripts. Exit status 77 reports a skip, as for programs.
# The distribution's Python sees the distribution's packages; another one may not.
find_program(NOLI_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(NOLI_PYTHON NAMES python3)

function(noli_add_scripted_test name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "${NOLI_TEST_ENVIRONMENT}" SKIP_RETURN_CODE 77 TIMEOUT ${NOLI_TEST_TIMEOUT})
endfunction()

# what two tests take from the public headers: calls of all functions with NULL, numbers of all definitions
if(NOLI_PYTHON AND NOLI_DERIVATIVES)
  file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/noli/*.h)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/generated)
  foreach(name null_calls definition_numbers)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/generated/${name}.h)
    add_custom_command(OUTPUT ${made}
      COMMAND ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/${name}.py ${PROJECT_SOURCE_DIR} ${made}
      DEPENDS ${PROJECT_SOURCE_DIR}/scripts/${name}.py ${PROJECT_SOURCE_DIR}/scripts/python_declarations.py ${public_headers})
    noli_add_test_program(test_${name} strangers/${name}.c ${made})
    target_include_directories(test_${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
  endforeach()
endif()
if(NOLI_PYTHON)
  noli_add_scripted_test(check_includes ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/check_includes.py
    ${PROJECT_SOURCE_DIR})
  foreach(form format spelling tidy)
    noli_add_scripted_test(lint_${form} ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/lint.py ${form} ${PROJECT_SOURCE_DIR}
      --build ${PROJECT_BINARY_DIR})
  endforeach()
  noli_add_scripted_test(lint_staged sh ${CMAKE_CURRENT_SOURCE_DIR}/install/test_lint.sh ${PROJECT_SOURCE_DIR})
  noli_add_scripted_test(release ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/install/test_release.py ${PROJECT_SOURCE_DIR})
  noli_add_scripted_test(check_citations ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/check_citations.py
    ${PROJECT_SOURCE_DIR})
  noli_add_scripted_test(read_vtu ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/output/read_vtu.py)
  # test_vtu writes what read_vtu reads
  set_tests_properties(test_vtu PROPERTIES FIXTURES_SETUP vtu_files)
  set_tests_properties(read_vtu PROPERTIES FIXTURES_REQUIRED vtu_files)
endif()
noli_add_scripted_test(working_folder sh ${CMAKE_CURRENT_SOURCE_DIR}/strangers/test_working_folder.sh
  $<TARGET_FILE:test_run_writer> $<TARGET_FILE:test_elements_between_ranks>)
# they write the same files
set_tests_properties(working_folder test_run_writer test_elements_between_ranks PROPERTIES RESOURCE_LOCK written_by_tests)
if(TARGET noli_program)
  noli_add_scripted_test(program sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_program.sh
    $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR})
  if(NOLI_DERIVATIVES)
    noli_add_scripted_test(design sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_design.sh
      $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR})
  endif()
  noli_add_scripted_test(moved sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_moved.sh $<TARGET_FILE:noli_program>)
  noli_add_scripted_test(bad_input sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_bad_input.sh
    $<TARGET_FILE:noli_program>)
endif()
if(TARGET noli_program AND NOLI_PYTHON)
  noli_add_scripted_test(repair_starts sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_repair.sh
    $<TARGET_FILE:noli_program> ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR})
  noli_add_scripted_test(mesh_solids sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_mesh.sh
    $<TARGET_FILE:noli_program> ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR})
endif()
# the first random scenes of `make torture`: none may be wrong
if(TARGET noli_program AND NOLI_PYTHON)
  noli_add_scripted_test(torture ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/torture.py --noli $<TARGET_FILE:noli_program>
    --scenes 12 --jobs 1 --cpu 5 --out torture)
  noli_add_scripted_test(torture_thin ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/torture.py --noli $<TARGET_FILE:noli_program>
    --series thin --scenes 12 --jobs 1 --cpu 5 --out torture_thin)
endif()
# the page of a run, in Chromium where it is installed
if(TARGET noli_program AND NOLI_PYTHON)
  noli_add_scripted_test(gaps ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/app/test_gaps.py $<TARGET_FILE:noli_program>)
  noli_add_scripted_test(view ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/app/test_view.py $<TARGET_FILE:noli_program>
    ${PROJECT_SOURCE_DIR})
endif()
if(TARGET noli_program)
  noli_add_scripted_test(killed sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_killed.sh
    $<TARGET_FILE:noli_program>)
endif()
# What refuses memory goes below the allocator of the GNU C library, where sanitizers are too.
include(CheckFunctionExists)
check_function_exists(__libc_memalign NOLI_HAS_LIBC_MEMALIGN)
if(TARGET noli_program AND NOLI_HAS_LIBC_MEMALIGN AND NOLI_SANITIZE STREQUAL "")
  add_library(refuse_memory MODULE ${CMAKE_CURRENT_SOURCE_DIR}/app/refuse_memory.c)
  target_link_libraries(refuse_memory PRIVATE ${CMAKE_DL_LIBS})
  target_compile_options(refuse_memory PRIVATE -fno-builtin)
  set_target_properties(refuse_memory PROPERTIES C_VISIBILITY_PRESET default)
  noli_add_scripted_test(out_of_memory sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_out_of_memory.sh
    $<TARGET_FILE:noli_program> $<TARGET_FILE:refuse_memory>)
endif()
if(TARGET noli_bench AND NOLI_PYTHON)
  noli_add_scripted_test(bench sh ${CMAKE_CURRENT_SOURCE_DIR}/bench/test_bench.sh
    $<TARGET_FILE:noli_bench> ${PROJECT_SOURCE_DIR} ${NOLI_PYTHON})
  noli_add_scripted_test(bench_tables ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/bench_tables.py --check
    $<TARGET_FILE:noli_bench> ${PROJECT_SOURCE_DIR}/docs/evidence)
endif()
# figures of the papers: none left out, and every command that is named exists
if(TARGET noli_bench AND TARGET noli_validate AND NOLI_PYTHON)
  noli_add_scripted_test(coverage ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/coverage.py
    --bench $<TARGET_FILE:noli_bench> --validate $<TARGET_FILE:noli_validate> ${PROJECT_SOURCE_DIR})
endif()
# documents: no dead links, nothing that is made of something else out of date; the site builds
if(TARGET noli_program AND NOLI_PYTHON)
  noli_add_scripted_test(modules ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/modules.py --check ${PROJECT_SOURCE_DIR})
  noli_add_scripted_test(gallery ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/gallery.py --check)
  noli_add_scripted_test(check_docs ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/check_docs.py
    --noli $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR})
  noli_add_scripted_test(site ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/site.py ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/site)
  noli_add_scripted_test(guide sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_guide.sh
    $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR} ${NOLI_PYTHON})
endif()
if(TARGET noli_program AND NOLI_PYTHON)
  noli_add_scripted_test(render sh ${CMAKE_CURRENT_SOURCE_DIR}/app/test_render.sh
    $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR} ${NOLI_PYTHON})
endif()
if(TARGET noli_program AND NOLI_PYTHON)
  noli_add_scripted_test(exchange ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/test_exchange.py
    $<TARGET_FILE:noli_program>)
  noli_add_scripted_test(looks ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/test_looks.py
    $<TARGET_FILE:noli_program>)
  noli_add_scripted_test(exchange_blender ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/test_exchange_blender.py
    $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR})
endif()
# physics: the quick part of every case within its published bounds, and the page that publishes them
if(TARGET noli_validate AND NOLI_PYTHON)
  noli_add_scripted_test(validation $<TARGET_FILE:noli_validate> --quick --json validation_quick.json)
  noli_add_scripted_test(validation_page ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/validation.py --check
    ${PROJECT_SOURCE_DIR}/docs validation_quick.json)
  set_tests_properties(validation PROPERTIES FIXTURES_SETUP validation_figures)
  set_tests_properties(validation_page PROPERTIES FIXTURES_REQUIRED validation_figures)
endif()
if(NOLI_PYTHON)
  noli_add_scripted_test(pin_reference ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/validation/pin_reference.py)
endif()
# additions that docs/howto/add.md shows, linked with the objects of this build
if(CMAKE_GENERATOR STREQUAL "Unix Makefiles" AND TARGET noli_program AND NOLI_PYTHON AND NOLI_SANITIZE STREQUAL "")
  foreach(name law format element contact)
    noli_add_scripted_test(addition_${name} ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/install/test_additions.py
      ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${name})
  endforeach()
endif()
if(CMAKE_GENERATOR STREQUAL "Unix Makefiles")
  noli_add_scripted_test(setup sh ${CMAKE_CURRENT_SOURCE_DIR}/install/test_setup.sh ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR})
endif()
# the Python package, with all functions of the library, in the tree and as a wheel; an instrumented library would need its runtime in Python
if(NOLI_PYTHON AND NOLI_DERIVATIVES AND NOLI_SANITIZE STREQUAL "")
  foreach(name library scene simulation design threads fork run examples)
    noli_add_scripted_test(python_${name} ${CMAKE_COMMAND} -E env NOLI_LIBRARY=$<TARGET_FILE_DIR:noli>
      PYTHONPATH=${PROJECT_SOURCE_DIR}/python PYTHONDONTWRITEBYTECODE=1
      ${NOLI_PYTHON} ${PROJECT_SOURCE_DIR}/python/tests/run.py test_${name})
  endforeach()
  if(TARGET noli_program)
    noli_add_scripted_test(first_hour ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/app/test_first_hour.py
      $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR} $<TARGET_FILE_DIR:noli> ${CMAKE_C_COMPILER})
  endif()
  noli_add_scripted_test(python_wheel sh ${PROJECT_SOURCE_DIR}/python/tests/test_wheel.sh ${NOLI_PYTHON}
    ${PROJECT_SOURCE_DIR} $<TARGET_FILE_DIR:noli>)
endif()
# An instrumented library needs its runtime in the programs that use it.
if(NOLI_PYTHON AND NOLI_SANITIZE STREQUAL "")
  noli_add_scripted_test(callers ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/install/test_callers.py
    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:noli> ${CMAKE_C_COMPILER})
  set_tests_properties(callers PROPERTIES SKIP_RETURN_CODE 77)
endif()
if(NOLI_SANITIZE STREQUAL "")
  noli_add_scripted_test(install sh ${CMAKE_CURRENT_SOURCE_DIR}/install/test_install.sh
    ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
  noli_add_scripted_test(package sh ${CMAKE_CURRENT_SOURCE_DIR}/install/test_package.sh
    ${CMAKE_CPACK_COMMAND} ${PROJECT_BINARY_DIR} "${NOLI_PYTHON}")
  set_tests_properties(package PROPERTIES SKIP_RETURN_CODE 77)
endif()
# runs on several ranks
if(NOLI_MPI AND TARGET noli_program AND NOLI_PYTHON)
  set(ranks_environment ${NOLI_TEST_ENVIRONMENT})
  math(EXPR ranks_timeout "3 * ${NOLI_TEST_TIMEOUT}")
  if(NOLI_SANITIZE)
    list(APPEND ranks_environment "NOLI_RUN_TIMEOUT=3000")
  endif()
  if(NOLI_SANITIZE MATCHES address)
    # of MPI and PETSc; slow unwinding sees through libraries without frame pointers
    add_library(keep_loaded MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mpi/keep_loaded.c)
    set_target_properties(keep_loaded PROPERTIES C_VISIBILITY_PRESET default)
    list(APPEND ranks_environment "LD_PRELOAD=$<TARGET_FILE:keep_loaded>" "ASAN_OPTIONS=fast_unwind_on_malloc=0"
      "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/mpi/leaks.supp:print_suppressions=0")
  endif()
  if(TARGET refuse_memory)
    list(APPEND ranks_environment "NOLI_REFUSE_MEMORY=$<TARGET_FILE:refuse_memory>")
  endif()
  foreach(name documents_tell examples_agree variants_agree bits_repeat pairs_agree rigid_agree runs_resume errors_end_once searches_agree frames_come_in_parts full_disks_end_all
      refused_memory_ends_all two_ranks_have_room killed_ranks_end_all)
    add_test(NAME ranks_${name} COMMAND ${NOLI_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/test_ranks.py
      $<TARGET_FILE:noli_program> ${PROJECT_SOURCE_DIR} ${name})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/ranks_${name})
    set_tests_properties(ranks_${name} PROPERTIES WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/ranks_${name} LABELS mpi
      ENVIRONMENT "${ranks_environment}" SKIP_RETURN_CODE 77 TIMEOUT ${ranks_timeout} PROCESSORS 4)
  endforeach()
  function(noli_add_ranks_test test name n_ranks)
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${n_ranks} $<TARGET_FILE:test_${name}_between_ranks>)
    set_tests_properties(${test} PROPERTIES LABELS mpi ENVIRONMENT "${ranks_environment}" TIMEOUT ${NOLI_TEST_TIMEOUT}
      PROCESSORS ${n_ranks})
  endfunction()
  foreach(name exchange derivatives elements solvers contacts balance)
    noli_add_ranks_test(ranks_${name} ${name} 3)
    set_tests_properties(test_${name}_between_ranks PROPERTIES LABELS mpi ENVIRONMENT "${ranks_environment}")
    list(APPEND ranks_programs test_${name}_between_ranks)
  endforeach()
  # whose bodies lie otherwise on an even number of ranks
  foreach(name contacts balance)
    noli_add_ranks_test(ranks_${name}_on_2 ${name} 2)
  endforeach()
  set_tests_properties(ranks_elements PROPERTIES RESOURCE_LOCK written_by_tests)
  set_tests_properties(test_petsc PROPERTIES LABELS mpi ENVIRONMENT "${ranks_environment}")
  # what these tests need
  add_custom_target(ranks_tests DEPENDS noli_program test_petsc ${ranks_programs})
  foreach(more keep_loaded refuse_memory)
    if(TARGET ${more})
      add_dependencies(ranks_tests ${more})
    endif()
  endforeach()
endif()
