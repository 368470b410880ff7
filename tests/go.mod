module github.com/rotaloom/rotaloom/tests

go 1.26.0

replace github.com/rotaloom/rotaloom/proto => ../proto

require (
	github.com/rotaloom/rotaloom/pkg v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/proto v0.0.0-00010101000000-000000000000
)

require (
	github.com/stretchr/testify v1.12.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace github.com/rotaloom/rotaloom/pkg => ../pkg
