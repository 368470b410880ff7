# Targets are few and call the same things that CI calls. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export GOTOOLCHAIN := local

# Folders, not the paths that go list prints: those break where the checkout's has a space.
modules = $(shell sed -n 's|^\t\(\./.*\)|\1|p' go.work)
buf     = "$$(GOWORK=off go -C tools/buf tool -n buf)"
withpg  = go run ./pkg/testkit/cmd/withpg
# The folder for temporary files of tests. GOTMPDIR would move the folders of t.TempDir elsewhere.
tmp     = env -u GOTMPDIR TMPDIR="$$(tools/tests-tmpdir.sh)"
generated = proto/gen docs/operations.md docs/error-codes.md docs/collection gateway/apidocs/page/errors.html docs/licenses.md
commands = $(addsuffix /cmd/...,./gateway ./services/auth ./services/commons ./services/timekeeping \
	./services/scheduling ./services/recruiting ./services/platform ./services/standalone)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The address of make run.
LISTEN ?= 127.0.0.1:8443

.PHONY: run
run: ## Serve everything on https://127.0.0.1:8443, with a demonstration; LISTEN=127.0.0.1:9443 chooses another address.
	@tools/free-port.sh '$(LISTEN)'
	@tools/need-postgres.sh
	@echo 'Building bin/rotaloom. The first time takes some minutes.'
	@go build -o bin/ ./services/standalone/cmd/rotaloom
	@bin/rotaloom serve --demo --listen "$(LISTEN)" --state-dir .state --log-format text --log-level warn

.PHONY: build
build: ## Build every binary into bin/.
	go build -o bin/ $(commands)

.PHONY: postgres
postgres: ## Install PostgreSQL's server package when it is missing.
	@tools/need-postgres.sh

.PHONY: chromium
chromium: ## Install a headless browser, for tests, when it is missing.
	@tools/need-chromium.sh

.PHONY: slapd
slapd: ## Install OpenLDAP's server package, for tests, when it is missing.
	@tools/need-slapd.sh

.PHONY: pgbouncer
pgbouncer: ## Install PgBouncer, for tests, when it is missing.
	@tools/need-pgbouncer.sh

.PHONY: buildah
buildah: ## Install buildah, for images, when it and Docker are missing.
	@tools/need-buildah.sh

.PHONY: compiler
compiler: ## Install a C compiler, for the race detector, when it is missing.
	@tools/need-compiler.sh

.PHONY: clients
clients: ## Install curl, Python and Node, for tests, when they are missing.
	@tools/need-clients.sh

# The packages with tests that try fewer cases when they are to be short. The race detector
# makes each case take five times as long, and more cases of a rule show it nothing new.
property = $(sort $(dir $(shell grep -rlE 'testing\.Short\(\)|"pgregory.net/rapid"' --include='*_test.go' $(filter-out ./tests,$(modules)))))

# The tests that make kills runs in a longer form.
killing  = TestPropagatorIsKilled|TestNotifierIsKilled|TestStagingWorkerIsKilled|TestHiresAreKilled|TestRollingRestart|TestFourTimesTheCapacity
runkills = $(tmp) ROTALOOM_FAULTS=ci go test -count=1 -p 1 -timeout 20m -v -run '^($(killing))$$' ./tests/faults ./tests/overload

# Tests do not vet again what make lint vets.
.PHONY: test
test: postgres slapd chromium clients pgbouncer $(if $(RACE),compiler) ## Run all tests except the long fault runs; RACE=yes runs the tests of the modules with the race detector, KILLS=yes those of make kills in their longer form.
	@status=0; \
	$(tmp) $(withpg) go test $(if $(RACE),-race -short) -vet=off $(addsuffix /...,$(filter-out ./tests,$(modules))) || status=1; \
	$(if $(RACE),$(tmp) $(withpg) go test -vet=off $(property) || status=1;) \
	$(tmp) go test -count=1 -vet=off -timeout 30m $(if $(KILLS),-skip '^($(killing))$$') ./tests/... || status=1; \
	$(if $(KILLS),$(runkills) || status=1;) \
	GOWORK=off go -C tools/licenses test ./... || status=1; \
	GOWORK=off go -C tools/sbom test ./... || status=1; \
	GOWORK=off go -C deploy/tests test ./... || status=1; \
	exit $$status
	# The tests in ./tests build and run binaries, which the cache of test results does not see.

.PHONY: test-one
test-one: postgres ## Run tests of one package: PKG=./services/scheduling/... [RUN=TestName].
	@tools/test-one.sh "$(PKG)" "$(RUN)"

.PHONY: case
case: postgres ## Run one contract case, or those that match: CASE=scheduling/shift_template.
	@tools/case.sh "$(CASE)"

.PHONY: generated-clients
generated-clients: postgres ## Generate clients from the API description with three generators, compile them and make calls, and send the collection of requests.
	$(tmp) tools/node/run.sh go test -count=1 -vet=off -timeout 30m -tags generated -run '^TestGenerated' ./tests/clients

.PHONY: contract
contract: postgres pgbouncer ## Run the contract cases, in one process, in separate ones, and behind a pooler.
	$(tmp) go test -count=1 ./tests/contract/... ./tests/rotation/...

.PHONY: faults
faults: postgres ## Kill, stop and restart things while changes are applied; the long form.
	$(tmp) ROTALOOM_FAULTS=long go test -count=1 -timeout 30m ./tests/faults/... ./tests/overload/...

.PHONY: own-writes
own-writes: postgres ## Read schedules, timecards and balances right after writes, of 1,000 employees or ROTALOOM_OWN_WRITES=<number>.
	$(tmp) ROTALOOM_OWN_WRITES=$${ROTALOOM_OWN_WRITES:-1000} go test -count=1 -timeout 30m -v -run '^TestClientsReadTheirOwnWrites$$' ./tests/faults

.PHONY: model
model: postgres ## Compare the product with a day-by-day model, for an hour or ROTALOOM_MODEL=<duration>.
	ROTALOOM_MODEL=$${ROTALOOM_MODEL:-1h} go test -count=1 -parallel 3 -timeout 25h -v ./tests/model/...

.PHONY: attack
attack: postgres ## Attack the running product; the long form.
	ROTALOOM_ATTACK=long go test -count=1 -timeout 60m -v ./tests/attack/...

.PHONY: kills
kills: postgres ## Kill the propagator at 10,000 employees, the notifier and the payroll worker twenty times each, and the services of a hire twenty times, restart every process twice, and overload the product for a minute, as CI does.
	$(runkills)

.PHONY: upgrade
upgrade: postgres ## Run the programs before the last migration on the schema of the tree, then replace them: [ROTALOOM_UPGRADE_FROM=<git ref>].
	go test -count=1 -tags upgrade -timeout 20m -v ./tests/upgrade

.PHONY: mutate
mutate: postgres ## Change the code of rules in small ways, and see whether their tests notice: [PKG=pkg/policy].
	$(withpg) tools/mutate/mutate.sh $(PKG)

.PHONY: race
race: postgres slapd pgbouncer compiler ## Run the tests of the building blocks and services with the race detector.
	$(tmp) $(withpg) go test -race -short -vet=off $(addsuffix /...,$(filter-out ./proto ./tests,$(modules)))

.PHONY: picture
picture: build postgres ## Draw the picture of the front page from a real response.
	go run ./tests/cmd/picture docs/rotations.svg

.PHONY: bench
bench: build postgres third-party ## Print the figures that README quotes, as ratios of one run.
	go run ./tests/cmd/bench

.PHONY: newcomer
newcomer: ## Run README as a newcomer would: in a bare Debian, as a user, in a path with a space. Needs root.
	@tests/newcomer/run.sh

.PHONY: postgres-versions
postgres-versions: slapd pgbouncer ## Run the tests of the database on the lowest and the newest PostgreSQL, unpacked from Debian's packages.
	@tools/postgres-versions/test.sh

.PHONY: lint
lint: third-party ## Check Go with golangci-lint (vet and staticcheck included), and lint the contracts and the API description.
	"$$(GOWORK=off go -C tools/golangci tool -n golangci-lint)" run $(addsuffix /...,$(modules))
	GOWORK=off $(buf) lint
	tools/node/run.sh tools/openapi-lint/lint.sh

.PHONY: breaking
breaking: generate ## Check that the contracts break no client: of the last release, or of AGAINST=<git ref>.
	@tools/breaking.sh $(AGAINST)

.PHONY: verify
verify: generate licenses lint breaking ## Check that generation, formatting and tidiness leave no difference.
	@test -z "$$(gofmt -l $$(git ls-files '*.go' ':!proto/gen'))" || { gofmt -l $$(git ls-files '*.go' ':!proto/gen'); echo 'verify: these files are not formatted: make fmt.' >&2; exit 1; }
	GOWORK=off $(buf) format -d --exit-code proto/api || { echo 'verify: these contracts are not formatted: make fmt.' >&2; exit 1; }
	@for m in $(modules); do (cd $$m && GOWORK=off go mod tidy -diff) || { echo "verify: $$m/go.mod is not tidy: make tidy." >&2; exit 1; }; done
	@test -z "$$(git status --porcelain $(generated))" || { git status --porcelain $(generated); \
		echo 'verify: generation has just been run, and these files differ from the last commit: commit them.' >&2; exit 1; }

# The contracts of others that the own ones import. buf reads them from a folder that is not in the tree.
.PHONY: third-party
third-party:
	cd proto && GOWORK=off go run ./cmd/printprotos third_party

.PHONY: generate
generate: third-party ## Generate Go, gateway, OpenAPI, error codes and the collection of requests from contracts, code and examples.
	GOWORK=off $(buf) generate
	GOWORK=off $(buf) generate --template buf.gen.openapi.yaml
	go test -count=1 ./tests/reference -run ErrorCode -update
	go test -count=1 ./tests/examples -run Collection -update

.PHONY: licenses
licenses: ## Write docs/licenses.md: the licences of all dependencies in the programs; fails if a licence is unknown.
	GOWORK=off go -C tools/licenses run . -root ../.. -all "$(addsuffix /...,$(modules))" $(commands)

# govulncheck wants to start in a module's folder; from there it looks at the whole workspace.
.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities; needs the network, or a copy of the database: DB=<URL>.
	"$$(GOWORK=off go -C tools/vulncheck tool -n govulncheck)" -C tests $(if $(DB),-db "$(DB)") $(addprefix ../,$(addsuffix /...,$(modules)))

.PHONY: images
images: buildah ## Build the container images, or IMAGES="gateway auth".
	@deploy/images/build.sh $(IMAGES)

.PHONY: images-reproducible
images-reproducible: buildah ## Build an image twice, the second time in a clone elsewhere: IMAGES=gateway; fails when they differ.
	@deploy/images/reproducible.sh $(or $(IMAGES),gateway)

.PHONY: dist
dist: ## Make archives and Debian packages for amd64 and arm64, with bills of materials and checksums: build/dist; ARCH=amd64 makes those of one.
	@tools/dist.sh $(ARCH)

.PHONY: dist-reproducible
dist-reproducible: ## Make the archives and packages of the last commit twice, the second time in a clone elsewhere; fails when they differ.
	@tools/dist-reproducible.sh $(ARCH)

.PHONY: package-test
package-test: ## Install the Debian package of this machine's architecture in a bare Debian, start the program and remove it. Needs root.
	@tools/dist.sh "$$(dpkg --print-architecture)" && tests/package/run.sh build/dist/*.deb

.PHONY: deploy-test
deploy-test: ## Check that the chart, the overlays and compose.yaml match the programs.
	GOWORK=off go -C deploy/tests test ./...

.PHONY: kube-validate
kube-validate: ## Check that a real Kubernetes API server accepts the chart and the overlays; the first run builds the server, which takes minutes.
	@tools/kubernetes/build.sh >/dev/null
	@set -o pipefail; GOWORK=off go -C deploy/tests test -count=1 -tags kube -run '^TestServer$$' -v . 2>&1 | { grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME))' || true; }

.PHONY: kube-test
kube-test: ## Run the product in a fresh cluster, and upgrade, kill, drain and scale it under load; as root: [ROTALOOM_KUBE_EMPLOYEES=10000].
	@tools/kubernetes/test.sh

.PHONY: kustomize
kustomize: ## Render the base of deploy/kustomize from the chart, and write the broker's users for the chart.
	GOWORK=off go -C deploy/tests test -count=1 -run 'TestTheBaseIsTheChart' . -update

.PHONY: reference
reference: ## Write the pages of docs/ that are made from the programs.
	go test -count=1 ./tests/reference -update
	go test -count=1 ./tests/truth -run Page -update

.PHONY: fmt
fmt: ## Format Go and protobuf sources.
	gofmt -w $$(git ls-files -co --exclude-standard '*.go' ':!proto/gen')
	@golangci=$$(GOWORK=off go -C tools/golangci tool -n golangci-lint) || exit 1; \
		for m in $(filter-out ./proto,$(modules)); do (cd $$m && "$$golangci" fmt -c "$(CURDIR)/.golangci.yml" ./...) || exit 1; done
	GOWORK=off $(buf) format -w proto/api

.PHONY: tidy
tidy: ## Make every go.mod say exactly what its module needs.
	go work sync
	@for m in $(modules); do (cd $$m && GOWORK=off go mod tidy) || exit 1; done

.PHONY: clean
clean: ## Remove build results, and the local state of `make run`.
	tools/remove.sh bin build .state proto/third_party
