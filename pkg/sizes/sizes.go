// Package sizes has the size limits that several programs share, each with its default.
package sizes

// Body bounds the bodies of HTTP requests.
type Body struct {
	// BodyLimit is in bytes; 1 MiB. The edge rejects larger bodies, and platform shows the limit to
	// callers.
	BodyLimit int64 `name:"body-limit" default:"1048576" help:"Largest request body that the edge accepts, in bytes."`
}

// Response bounds the responses of services.
type Response struct {
	// MaxResponse bounds a gRPC response in bytes; 64 MiB.
	MaxResponse int `name:"rpc-max-response" default:"67108864" help:"Largest response of a service in bytes."`
}
