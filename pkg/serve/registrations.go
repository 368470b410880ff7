package serve

import "google.golang.org/grpc"

// Registration adds the operations of one handler to a server.
type Registration func(server grpc.ServiceRegistrar)

// Registrations are the operations of a service. Services embed it, and set it in New.
type Registrations []Registration

// Register adds the operations to a server.
func (r Registrations) Register(server grpc.ServiceRegistrar) {
	for _, register := range r {
		register(server)
	}
}

// Handle returns a function that turns a handler into a registration. The argument is the generated
// function that registers handlers of a contract's service. The handler is the argument of the
// result, because Go then converts it to the interface of the contract's service.
func Handle[S any](register func(grpc.ServiceRegistrar, S)) func(handler S) Registration {
	return func(handler S) Registration {
		return func(server grpc.ServiceRegistrar) { register(server, handler) }
	}
}
