# SPDX-License-Identifier: MPL-2.0
.PHONY: plugin tool inspector test test-all test-fast demo bench bench-shapes fuzz soak races test-asan test-tsan test-report test-embedded test-applications valgrind pictures docs deb install uninstall format lint clean

plugin:      ; plugin/build.sh
tool:        ; plugin/build.sh --tool
inspector:   ; Sources/Inspector/build.sh
test:        ; Tests/run.sh
test-all:    ; Tests/run.sh --all
test-fast:   ; Tests/run.sh --fast
demo:        ; plugin/dependencies.sh --element && plugin/build.sh && plugin/demo.sh $(if $(FILE),"$(FILE)")
bench:       ; Tests/Scripts/Bench/run.sh
bench-shapes: ; plugin/build.sh && python3 Tests/Scripts/Bench/shapes.py
fuzz:        ; Tests/Fuzz/run.sh
soak:        ; SOAK_ACCESS_UNITS=200000 swift test --filter SoakTests && HARDENING_LIVES=50 swift test --filter ConcurrencyTests
races:       ; for round in $$(seq 20); do RESTART_CYCLES=5000 swift test --filter RestartRaceTests || exit 1; done
test-asan:   ; Tests/run.sh --sanitize=address
test-tsan:   ; Tests/run.sh --sanitize=thread
test-report: ; Tests/Scripts/Report/run.sh
test-embedded: ; Tests/Scripts/Embedded/run.sh
test-applications: ; Tests/Scripts/Applications/run.sh
valgrind:    ; Tests/Scripts/Valgrind/run.sh
pictures:    ; plugin/dependencies.sh --page && python3 -B Tests/Scripts/Report/pictures.py
docs:        ; plugin/docs.sh
deb:         ; plugin/deb.sh
install:     ; plugin/install.sh install
uninstall:   ; plugin/install.sh uninstall
format:      ; git ls-files -z '*.swift' | xargs -0 swift format --in-place
lint:        ; git ls-files -z '*.swift' | xargs -0 swift format lint --strict
clean:       ; rm -rf .build
