package client

// Names of metadata that travel with requests.
const (
	// HeaderAuthorization carries the access token of the user.
	HeaderAuthorization = "authorization"
	// HeaderRequestID carries the request id, and returns it when the
	// service had to make one.
	HeaderRequestID = "x-request-id"
	// HeaderTraceparent carries the W3C trace context.
	HeaderTraceparent = "traceparent"
	// HeaderTenant carries the tenant for which a service works. It is
	// believed only from trusted services, and only without a token.
	HeaderTenant = "rotaloom-tenant"
	// HeaderPermission carries the permission that the operation of the user
	// needs for which a service works. It is believed only from trusted services.
	HeaderPermission = "rotaloom-permission"
	// HeaderIfMatch carries the If-Match of the request to the operation that it asks for,
	// as package precondition writes it. It is never passed on to another service.
	HeaderIfMatch = "rotaloom-if-match"
)
