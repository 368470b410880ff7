module github.com/rotaloom/rotaloom/gateway

go 1.26.0

replace (
	github.com/rotaloom/rotaloom/pkg => ../pkg
	github.com/rotaloom/rotaloom/proto => ../proto
)

require (
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.31.0 // indirect
	github.com/rotaloom/rotaloom/pkg v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/proto v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/grpc v1.85.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
