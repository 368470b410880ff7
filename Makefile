# Targets are few and call the same things that CI calls. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export GOTOOLCHAIN := local

modules = $(shell go list -m -f '{{.Dir}}')
buf     = $(shell GOWORK=off go -C tools/buf tool -n buf)

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: generate
generate: ## Generate Go, gateway and OpenAPI from the contracts in proto/api.
	cd proto && GOWORK=off go run ./cmd/printprotos third_party
	GOWORK=off $(buf) generate

.PHONY: fmt
fmt: ## Format Go and protobuf sources.
	gofmt -w $$(git ls-files -co --exclude-standard '*.go' ':!proto/gen')
	GOWORK=off $(buf) format -w proto/api

.PHONY: tidy
tidy: ## Make every go.mod say exactly what its module needs.
	go work sync
	@for m in $(modules); do (cd $$m && GOWORK=off go mod tidy) || exit 1; done

.PHONY: clean
clean: ## Remove what was built, and the local state of `make run`.
	rm -rf bin .state proto/third_party
