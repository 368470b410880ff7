// Package sizes holds the bounds of requests and responses that several programs have to
// agree on, each with its one default.
package sizes

// Body bounds the bodies of HTTP requests.
type Body struct {
	// BodyLimit is in bytes; 1 MiB. The edge refuses larger ones, and platform shows the
	// limit to callers.
	BodyLimit int64 `name:"body-limit" default:"1048576" help:"Largest request body that the edge accepts, in bytes."`
}

// Response bounds the responses of services.
type Response struct {
	// MaxResponse is in bytes, as it comes over gRPC; 64 MiB.
	MaxResponse int `name:"rpc-max-response" default:"67108864" help:"Largest response of a service in bytes."`
}
