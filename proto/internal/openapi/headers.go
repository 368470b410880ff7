package openapi

import (
	"net/http"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

const (
	ifMatch        = "If-Match"
	idempotencyKey = "Idempotency-Key"
	requestID      = "X-Request-Id"
	prefer         = "Prefer"
	applied        = "Preference-Applied"
)

// headerParameters are the request headers that several operations have.
func headerParameters() *Map[*Parameter] {
	out := &Map[*Parameter]{}
	for _, p := range []*Parameter{
		{Name: ifMatch, Description: "The ETag of the version that the client has read, or a list of up to 16, one of which must be that of the object; " +
			"* for any version. 412 if the object has another version. It takes precedence over a version in the request."},
		{Name: idempotencyKey, Description: "One text of 1 to 255 printable ASCII characters, for example a random UUID. A repeated request with the same key " +
			"returns the stored response and changes nothing, for 24 hours unless the operator sets another time. 422 if the key belongs to another request, and 409 while the first request is running."},
		{Name: prefer, Description: "wait=N with N from 1 to 20 (RFC 7240): the response waits up to N seconds for the work that the request starts, and then contains its results. " +
			"Larger numbers count as 20. Without it, or if the work takes longer, the client reads the results at Content-Location. Other preferences have no effect."},
	} {
		p.In, p.Schema = "header", &Schema{Type: "string"}
		out.Set(p.Name, p)
	}
	return out
}

// responseHeaders are the response headers that several operations have.
func responseHeaders() *Map[*Header] {
	out := &Map[*Header]{}
	text := &Schema{Type: "string"}
	out.Set("WWW-Authenticate", &Header{Description: "The scheme, and what is wrong with the token (RFC 6750).", Schema: text})
	out.Set("Retry-After", &Header{Description: "The number of seconds after which the client can repeat the request.", Schema: &Schema{Type: "integer"}})
	out.Set("ETag", &Header{Description: "The version of the object, for If-Match.", Schema: text})
	out.Set("Link", &Header{Description: "The addresses of the first, the previous and the next page that exist (RFC 8288): rel first, prev and next.", Schema: text})
	out.Set("Content-Location", &Header{Description: "The path of the propagation that the request has started.", Schema: text})
	out.Set(applied, &Header{Description: "wait=N if the request waited for up to N seconds, because of its Prefer.", Schema: text})
	out.Set("Warning", &Header{Description: "299 - and a text in quotes: the request is accepted, but a part of it may be a mistake, such as the path of a job that no location has.", Schema: text})
	out.Set("Memento-Datetime", &Header{Description: "The instant of asOfDateTime, in whole seconds: a fraction is cut off (RFC 7089).", Schema: text})
	out.Set("RateLimit", &Header{Description: "The class of requests, the number of requests that remain (r), and the seconds until there is one more (t): " +
		`"read";r=99;t=1.`, Schema: text})
	out.Set("RateLimit-Policy", &Header{Description: `The number of requests (q) of the class that a caller can send in w seconds: "read";q=100;w=10.`, Schema: text})
	out.Set("Idempotent-Replayed", &Header{Description: "true if this is the stored response of an earlier request with the same Idempotency-Key.", Schema: text})
	out.Set(requestID, &Header{Description: "The id of the request in the logs of the server. A client can send its own in the header of the same name.", Schema: text})
	return out
}

// takesIfMatch reports whether the route changes the versioned object of the operation. A POST
// without a parameter in its path creates the object.
func (r *route) takesIfMatch() bool {
	return r.policy.GetVersioned() && (r.verb == http.MethodPut || r.verb == http.MethodDelete || r.verb == http.MethodPost && len(r.params) > 0)
}

// takesKey reports whether the route honors an Idempotency-Key: it does if it writes and its response contains no
// secrets.
func (r *route) takesKey() bool {
	switch r.policy.GetThrottle() {
	case optionsv1.Throttle_THROTTLE_WRITE, optionsv1.Throttle_THROTTLE_BULK_WRITE:
	default:
		return false
	}
	return !r.policy.GetPublic() && !r.policy.GetOauthErrors() && !r.policy.GetConfidential() && r.verb != http.MethodGet
}

// headerParameters returns the request headers of a route.
func (r *route) headerParameters() []*Parameter {
	var out []*Parameter
	if r.takesIfMatch() {
		out = append(out, &Parameter{Ref: "#/components/parameters/" + ifMatch})
	}
	if r.takesKey() {
		out = append(out, &Parameter{Ref: "#/components/parameters/" + idempotencyKey})
	}
	if r.policy.GetWaits() {
		out = append(out, &Parameter{Ref: "#/components/parameters/" + prefer})
	}
	return out
}

// headers returns the headers of a response with this status.
func (g *generator) headers(r *route, status int) *Map[*Header] {
	out := &Map[*Header]{}
	add := func(names ...string) {
		for _, name := range names {
			out.Set(name, &Header{Ref: "#/components/headers/" + name})
		}
	}
	add(requestID)
	switch status {
	case http.StatusUnauthorized:
		add("WWW-Authenticate")
	case http.StatusTooManyRequests:
		add("Retry-After", "RateLimit", "RateLimit-Policy")
	case http.StatusServiceUnavailable:
		add("Retry-After")
	}
	if status < http.StatusMultipleChoices {
		add("RateLimit", "RateLimit-Policy")
		if r.takesKey() {
			add("Idempotent-Replayed")
		}
		if r.policy.GetWaits() {
			add(applied)
		}
	}
	if r.policy.GetVersioned() && status == http.StatusOK {
		add("ETag")
	}
	if r.policy.GetPages() && status == http.StatusOK {
		add("Link")
	}
	shown := g.cases.headers(r, status)
	for _, name := range []string{"Content-Location", "Memento-Datetime", "Warning"} {
		if shown[name] {
			add(name)
		}
	}
	return out
}
