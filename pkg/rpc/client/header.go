package client

// Names of metadata that requests carry.
const (
	// HeaderAuthorization carries the access token of the user.
	HeaderAuthorization = "authorization"
	// HeaderRequestID carries the request id, and returns it if the service created it.
	HeaderRequestID = "x-request-id"
	// HeaderTraceparent carries the W3C trace context.
	HeaderTraceparent = "traceparent"
	// HeaderTenant carries the tenant of a call that a service makes. It is accepted only from
	// trusted services, and only without a token.
	HeaderTenant = "rotaloom-tenant"
	// HeaderPermission carries the permission of the user's operation that a service is working on.
	// It is accepted only from trusted services.
	HeaderPermission = "rotaloom-permission"
	// HeaderIfMatch carries the If-Match of the request, in the format of package precondition. It
	// is never passed on to another service.
	HeaderIfMatch = "rotaloom-if-match"
	// HeaderWait carries the seconds that the caller wants to wait for the work that the request
	// starts. It is never passed on to another service.
	HeaderWait = "rotaloom-wait"
)
