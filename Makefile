# Python >= 3.11 and make are all that is needed; each target sets up the rest. Variables: PLSTACK_HOME, PLSTACK_PORT.
PYTHON ?= python3
LAUNCH = $(PYTHON) -m plstack.launch

.PHONY: run stop status manage test quick properties processes contract soak chaos test-kube mutants check format messages openapi locks licences recipes bench

run:       ; @exec $(LAUNCH) run
stop:      ; @$(LAUNCH) stop
status:    ; @$(LAUNCH) status
# C is a management command of Django and its options: make manage C="scanner_database status"
manage:    ; @exec $(LAUNCH) manage $(C)
# T names paths or options for pytest: make test T="tests/billing -k hold"
test:      ; @$(LAUNCH) test $(T)
# the parts of `make test` that need no browser
quick:     ; @$(LAUNCH) test quick
properties: ; @$(LAUNCH) test properties
processes: ; @$(LAUNCH) test processes
contract:  ; @$(LAUNCH) test contract
# hours of the whole platform on a fast clock; a month of it: python -m benchmarks.soak
soak:      ; @$(LAUNCH) test soak
# kill -9 of every process of a running copy
chaos:     ; @$(LAUNCH) test chaos
# the driver's contract on the Kubernetes cluster that KUBECONFIG names
test-kube: ; @$(LAUNCH) test kube
# M names rooms of plstack/launch/mutants.py; all of them take hours: make mutants M="arithmetic quotas"
mutants:   ; @$(LAUNCH) mutants $(M)
# C names single checks: make check C="types layers"
check:     ; @$(LAUNCH) check $(C)
format:    ; @$(LAUNCH) check format-now
messages:  ; @$(LAUNCH) check messages-now
openapi:   ; @$(LAUNCH) check openapi-now
locks:     ; @$(LAUNCH) check locks-now
# asks the package index whether the pins of the platform's images still resolve
recipes:   ; @$(LAUNCH) check recipes
licences:  ; @$(LAUNCH) check licences-now
bench:     ; @$(PYTHON) benchmarks/quickstart.py
