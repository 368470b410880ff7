module github.com/rotaloom/rotaloom/gateway

go 1.26.0

replace (
	github.com/rotaloom/rotaloom/pkg => ../pkg
	github.com/rotaloom/rotaloom/proto => ../proto
)

require (
	github.com/rotaloom/rotaloom/pkg v0.0.0
	github.com/rotaloom/rotaloom/proto v0.0.0
	github.com/stretchr/testify v1.12.1
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.31.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/grpc v1.85.0 // indirect
)
