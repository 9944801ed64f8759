# Short names for common tasks. CMake builds: see CMakePresets.json.
PREFIX  ?= /usr/local
DESTDIR ?=
WERROR  ?=
GMSH    ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
BUILD   := build/release
PACKAGE := build/package
DEMO    := out/demo
BENCH   ?=

CASES   ?=
FUZZ    ?= 60
TORTURE ?= 200
SEED    ?= 0
SERIES  ?= solids
TESTS   ?= .
# the distribution's Python sees the distribution's packages; another one may not
PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)

.PHONY: help setup build demo gallery all-targets test sanitize sanitize-fast thread-check fuzz torture validate docs docs-update bench bench-timestep bench-solvers bench-stress bench-stress_fine bench-public \
        bench-scaling bench-thin bench-bodies bench-rigid bench-ablation bench-conditioning bench-friction bench-gcp bench-linear bench-order bench-hard bench-public-al \
        python python-test python-valgrind view-test bench-linear-costs bench-linear-large bench-linear-limits bench-work bench-elements bench-errors bench-tables noli_bench noli_bench_linear noli_bench_elements noli_error_study install install-python package mpi mpi-build mpi-check ranks-test mpi-sanitize release-check clean

help:
	@echo 'make demo      install missing packages, build, simulate examples/demo.json (./demo does it without make)'
	@echo 'make test      install missing packages, build everything, run all tests'
	@echo 'make sanitize-fast    the fast tests with AddressSanitizer and UBSan, as make test does at its end where clang is installed'
	@echo 'make sanitize  all tests with AddressSanitizer and UBSan, make thread-check with ThreadSanitizer (clang, hours)'
	@echo 'make fuzz      damaged files for every reader, FUZZ=60 seconds each (needs clang)'
	@echo 'make torture   random scenes, every result verified; TORTURE=2000 SEED=0: number and first seed (docs/evidence/torture.md);'
	@echo '               SERIES=thin: with shells, rods and points'
	@echo 'make validate  physics compared with closed forms, updates docs/evidence/validation.md (CASES="hertz stack": only these)'
	@echo 'make docs      the documentation as a site, out/site/index.html; readable offline'
	@echo 'make gallery   run all examples: times, pages for the site (hours of processor time with the long ones)'
	@echo 'make docs-update    update generated parts of documents: keys, help texts, files, tables'
	@echo 'make build     build the libraries and the program ($(BUILD)/noli); GMSH=ON: with Gmsh, for `noli mesh` (docs/howto/solids.md)'
	@echo 'make mpi       build for several ranks with MPI and PETSc, build/mpi/noli (docs/howto/mpi.md); make mpi-check runs it (minutes),'
	@echo '               ranks-test tests it, mpi-sanitize tests it with AddressSanitizer and UBSan (clang, hours)'
	@echo 'make python    the Python package as a wheel, $(BUILD)/python; python-test tests it in the tree (TESTS="test_run"),'
	@echo '               python-valgrind looks for errors of memory (docs/reference/python.md)'
	@echo 'make package   a Debian package of everything in build/package; make install-python installs the Python package'
	@echo 'make install   install to PREFIX (default /usr/local), below DESTDIR if given'
	@echo 'make bench     measure the scenes of the IPC paper (BENCH="--full": options of noli_bench)'
	@echo 'make bench-timestep, bench-solvers, bench-stress, bench-public    the time-step study; solvers'
	@echo '               compared; stress scenes; all scenes'
	@echo 'make bench-scaling, bench-ablation, bench-conditioning, bench-linear    work per node; ablation of'
	@echo '               the solver; condition numbers; linear solvers (generated scenes, no data)'
	@echo 'make bench-gcp, bench-order    the geometric contact potential and the barrier; elements of high order'
	@echo 'make bench-hard, bench-errors  steps with many iterations: their time; the errors of every solver beside its time'
	@echo 'make bench-friction    friction solved once per step, and with automatic iterations'
	@echo 'make bench-bodies    a pile of 100, 1000 and 10,000 bodies; bench-rigid: heaps, nets and gears of rigid bodies'
	@echo 'make bench-thin      cloth and cards, up to 218,000 vertices'
	@echo 'make bench-public-al, bench-linear-costs    all scenes with the augmented Lagrangian; cost of a factorization'
	@echo '               in iterations'
	@echo 'make bench-linear-large    systems of 9,000 to a million nodes with every linear solver (7 minutes, 4 GB)'
	@echo 'make bench-linear-limits    operations and bytes of linear solutions beside the limits of the machine'
	@echo 'make bench-stress_fine    stress scenes with the numbers of tetrahedra of the paper, in rich contact'
	@echo 'make bench-tables    update docs/evidence/benchmarks.md with the measurements'
	@echo 'make release-check    what a release needs, in a clean clone: versions, changelog, all tests, sanitizers, ranks, packages, site'
	@echo 'make setup     install the packages that make demo needs'
	@echo 'make clean     remove build and results'

setup:
	@sh scripts/setup.sh demo

# $(call compile,LABEL,OPTIONS OF CMAKE,TARGETS): configures and builds; prints progress and compiler messages
define compile
	@sh scripts/configure.sh $(BUILD) $(2) -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX='$(PREFIX)' \
	  $(if $(WERROR),-DNOLI_WERROR=$(WERROR)) $(if $(GMSH),-DNOLI_GMSH=$(GMSH))
	@sh scripts/quietly.sh build 'build: $(1)' 0 $(BUILD)/build.log \
	  env MAKEFLAGS=--no-print-directory cmake --build $(BUILD) --parallel $(JOBS) $(addprefix --target ,$(3))
endef
# a build without tests needs none of their packages; a build with tests keeps them
WITHOUT_TESTS = --without-tests

build:
	@sh scripts/setup.sh build $(if $(filter ON,$(GMSH)),mesh)
	$(call compile,libraries and program,$(WITHOUT_TESTS),noli_program noli noli_import)

mpi:
	@sh scripts/setup.sh mpi
	@$(MAKE) --no-print-directory mpi-build BUILD=build/mpi

# every example on 1 to 4 ranks, public scenes on 2
mpi-check: mpi
	@mkdir -p build/mpi/check && cd build/mpi/check && $(PYTHON) $(CURDIR)/tests/mpi/test_ranks.py ../noli $(CURDIR) every_example public_scenes

# tests on several ranks
ranks-test:
	@sh scripts/setup.sh mpi test
	@sh scripts/configure.sh build/mpi --preset mpi
	@sh scripts/quietly.sh build 'build: tests on several ranks' 0 build/mpi/build.log \
	  env MAKEFLAGS=--no-print-directory cmake --build --preset mpi --parallel $(JOBS) --target ranks_tests noli_program
	@ctest --preset mpi -L mpi --no-tests=error -R '$(TESTS)'

# tests on several ranks with AddressSanitizer and UBSan; TESTS=REGEX selects some
mpi-sanitize:
	@sh scripts/setup.sh mpi test
	@sh scripts/configure.sh build/mpi-asan --preset mpi-asan
	@cmake --build --preset mpi-asan --parallel $(JOBS) --target ranks_tests
	@ctest --preset mpi-asan -R '$(TESTS)'

mpi-build:
	$(call compile,libraries and program with MPI,$(WITHOUT_TESTS) -DNOLI_MPI=ON,noli_program noli noli_import)

demo:
	@sh scripts/setup.sh demo
	$(call compile,libraries and program,$(WITHOUT_TESTS),noli_program noli noli_import)
	@$(BUILD)/noli run examples/demo.json -o $(DEMO) --force
	@echo
	@echo 'View the result:'
	@echo '  scripts/render.py $(DEMO) demo.png          the last frame as a picture'
	@echo '  $(BUILD)/noli view $(DEMO)             the animation as a page for a browser, $(DEMO)/view.html'
	@echo '  paraview $(DEMO)/frames.pvd                 the animation in ParaView; colour it by von_mises'
	@echo '  $(BUILD)/noli info $(DEMO)             totals'
	@echo 'To call the program "noli" from here, as the guide (docs/start/guide.md) does:'
	@echo '  export PATH="$$PWD/$(BUILD):$$PATH"'

all-targets:
	@sh scripts/setup.sh test
	$(call compile,everything,-DNOLI_TESTS=ON)

test: all-targets
	@ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure --no-tests=error
	@$(MAKE) --no-print-directory sanitize-fast

# the fast tests with AddressSanitizer and UBSan, two minutes of processor time
sanitize-fast:
	@if command -v clang >/dev/null; then \
	  sh scripts/configure.sh build/asan-fast --preset asan-fast && \
	  sh scripts/quietly.sh build 'build: fast tests with sanitizers' 0 build/asan-fast/build.log \
	    env MAKEFLAGS=--no-print-directory cmake --build --preset asan-fast --parallel $(JOBS) && \
	  ctest --preset asan-fast --parallel $(JOBS) --no-tests=error; \
	else \
	  echo 'sanitizers: skipped, as clang is not installed (sh scripts/setup.sh lint)'; \
	fi

# the pages of runs in a real browser: `make test` opens them only where Chromium is installed
view-test:
	@sh scripts/setup.sh view
	$(call compile,program,$(WITHOUT_TESTS),noli_program)
	@$(PYTHON) tests/app/test_view.py $(BUILD)/noli .

# a sanitizer finding fails the test; TESTS=REGEX selects tests
sanitize thread-check:
	@sh scripts/setup.sh test
	@sh scripts/configure.sh build/$(if $(filter sanitize,$@),asan,tsan) --preset $(if $(filter sanitize,$@),asan,tsan)
	@cmake --build --preset $(if $(filter sanitize,$@),asan,tsan) --parallel $(JOBS)
	@ctest --preset $(if $(filter sanitize,$@),asan,tsan) --parallel $(JOBS) -R '$(TESTS)'

fuzz:
	@sh scripts/setup.sh test
	@sh scripts/configure.sh build/fuzz -S . -B build/fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DNOLI_FUZZ=ON \
	  -DNOLI_SANITIZE=address,undefined -DNOLI_BENCH=OFF
	@cmake --build build/fuzz --parallel $(JOBS) --target fuzz_targets
	@sh tests/fuzz/run.sh build/fuzz $(FUZZ)

# exit status 3 if a result is wrong; scenes that did not end well are kept in out/torture
torture: build
	@$(PYTHON) scripts/torture.py --noli $(BUILD)/noli --series $(SERIES) --scenes $(TORTURE) --seed $(SEED) --jobs $(JOBS) --out out/torture

validate: build
	$(call compile,validation,,noli_validate)
	@mkdir -p out
	@OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BUILD)/noli_validate --json out/validation.json $(CASES)
	@$(PYTHON) scripts/validation.py docs out/validation.json

# the front page shows the demo; pages of other examples, which `make gallery` writes, are linked from their pictures
docs: build
	@sh scripts/setup.sh docs
	@[ out/pages/demo.html -nt $(BUILD)/noli ] || { mkdir -p out/pages && \
	  $(BUILD)/noli run examples/demo.json -o $(DEMO) --force --quiet && \
	  $(BUILD)/noli view $(DEMO) -o out/pages/demo.html; }
	@$(PYTHON) scripts/site.py . out/site out/pages
	@echo 'open out/site/index.html'

# runs all examples, half an hour of processor time and more: times and tables of docs/start/examples.md, pages of runs
gallery: build
	@nice -n 10 $(PYTHON) scripts/gallery.py --run $(BUILD)/noli

docs-update: all-targets
	@$(PYTHON) scripts/modules.py .
	@$(PYTHON) scripts/gallery.py
	@$(PYTHON) scripts/scene_docs.py . $(BUILD)/tests/test_scene_docs
	@$(PYTHON) scripts/check_docs.py --write --noli $(BUILD)/noli .
	@$(PYTHON) scripts/validation.py docs

noli_bench noli_bench_linear noli_bench_elements noli_error_study: build
	$(call compile,benchmarks,,$@)

bench: noli_bench
	@mkdir -p out
	@sh bench/run.sh $(BUILD) --suite paper --json out/bench-paper.json $(BENCH)

bench-timestep bench-solvers bench-stress bench-stress_fine bench-public bench-scaling bench-thin bench-bodies bench-rigid bench-ablation bench-conditioning bench-friction bench-gcp bench-linear bench-order bench-hard: bench-%: noli_bench
	@mkdir -p out
	@sh bench/run.sh $(BUILD) --suite $* --json out/$@.json $(BENCH)

bench-work: noli_bench
	@mkdir -p out
	@for suite in paper hard; do \
	  sh bench/run.sh $(BUILD) --suite $$suite --steps 4 --threads 2 --profile --json out/$@-$$suite.json $(BENCH) || exit 1; \
	done

bench-public-al: noli_bench
	@mkdir -p out
	@sh bench/run.sh $(BUILD) --suite public --set solver.method=augmented_lagrangian --json out/$@.json $(BENCH)

bench-errors: noli_error_study
	@mkdir -p out
	@OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BUILD)/noli_error_study --suite hard --csv out/bench-errors.csv $(BENCH)

bench-linear-costs: noli_bench_linear
	@mkdir -p out
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/noli_bench_linear | tee out/bench-linear-costs.md

bench-linear-large: noli_bench_linear
	@mkdir -p out
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/noli_bench_linear --large | tee out/bench-linear-large.md

bench-linear-limits: noli_bench_linear
	@mkdir -p out
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/noli_bench_linear --limits | tee out/bench-linear-limits.md

bench-elements: noli_bench_elements
	@$(BUILD)/noli_bench_elements

# only existing measurements: tables without a file stay unchanged
bench-tables:
	@python3 scripts/bench_tables.py $(BUILD)/noli_bench docs/evidence $(wildcard out/bench-*.json out/bench-*.md)

python:
	@sh scripts/setup.sh python
	$(call compile,libraries and program,$(WITHOUT_TESTS),noli_program noli noli_import)
	@$(PYTHON) scripts/python_wheel.py . $(BUILD) $(BUILD)/python
	@echo 'install it with: $(PYTHON) -m venv --system-site-packages venv && venv/bin/pip install $(BUILD)/python/noli-*.whl'

# in the tree, without a wheel
IN_TREE = NOLI_LIBRARY='$(CURDIR)/$(BUILD)' PYTHONPATH='$(CURDIR)/python' PYTHONDONTWRITEBYTECODE=1
PYTHON_TESTS = $(filter-out .,$(TESTS))

python-test: python
	@$(IN_TREE) $(PYTHON) python/tests/run.py $(PYTHON_TESTS)

# lifetimes; all tests would take hours
python-valgrind: python
	@command -v valgrind >/dev/null || { echo 'needs valgrind: apt-get install valgrind' >&2; exit 4; }
	@$(IN_TREE) PYTHONMALLOC=malloc OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 valgrind --quiet --error-exitcode=3 \
	  --leak-check=no --suppressions=python/tests/valgrind.supp $(PYTHON) python/tests/run.py \
	  $(or $(PYTHON_TESTS),test_library.Memory test_scene.Meshes test_simulation.Views test_simulation.Control \
	  test_simulation.Parameters test_simulation.States test_threads.Batches)

install: build
	@sh scripts/install.sh $(BUILD) $(DESTDIR)

# what `make install` leaves out
install-python: build
	@sh scripts/setup.sh python
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --component python

# a build for the prefix /usr, apart from others
package:
	@sh scripts/setup.sh package
	@sh scripts/configure.sh $(PACKAGE) -S . -B $(PACKAGE) -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DNOLI_TESTS=OFF -DNOLI_BENCH=OFF
	@cmake --build $(PACKAGE) --parallel $(JOBS)
	@cd $(PACKAGE) && cpack >package.log || { cat package.log >&2; exit 4; }
	@echo 'install it with: apt-get install ./'$$(ls $(PACKAGE)/noli_*.deb)

# in a clean clone of the last commit, so that nothing which was built or left here helps; the source archive is made last
RELEASE := out/release
release-check:
	@$(PYTHON) scripts/release.py . --tag
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE) && git clone --quiet . $(RELEASE)/noli
	@sh $(RELEASE)/noli/.ci/run
	@$(MAKE) --no-print-directory -C $(RELEASE)/noli ranks-test python package docs
	@version=$$(git -C $(RELEASE)/noli show HEAD:CITATION.cff | sed -n 's/^version: //p') && \
	  git archive --format=tar.gz --prefix=noli-$$version/ -o $(RELEASE)/noli-$$version.tar.gz HEAD && \
	  echo "ready: git tag -a v$$version -m 'Noli $$version'; archive $(RELEASE)/noli-$$version.tar.gz"

clean:
	rm -rf build out
