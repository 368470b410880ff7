package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// handler serves a request, or does one part of that and calls the next handler.
type handler func(ctx context.Context, w *response, r *request)

// step wraps a handler in another one.
type step func(next handler) handler

// check validates one aspect of a request and stores the result in it.
type check func(ctx context.Context, w *response, r *request) *fault.Error

// inOrder returns a handler that runs the steps in order, and then last.
func inOrder(last handler, steps ...step) handler {
	for i := len(steps) - 1; i >= 0; i-- {
		last = steps[i](last)
	}
	return last
}

// request is an HTTP request with the results of the steps so far.
type request struct {
	*http.Request
	id    obs.Request
	span  tracing.Span
	began time.Time
	path  string // escaped, without the prefix /api

	route   *routing.Route   // nil when no operation has the path and method;
	missing *routing.NoRoute // then the reason
	values  []string         // of the path parameters, in the order of the path
	params  map[string]string
	query   url.Values

	condition string // the If-Match in the form that services expect, or ""
	wait      int    // the seconds to wait for the work that the request starts

	// caller is the verified caller, and token the token; both are empty for anonymous clients.
	caller *authn.Principal
	token  string
	// tokenOwner is the owner of the token in the response, or nil.
	tokenOwner *rpc.TokenOwner

	body *requestBody // nil when the operation has no body
}

func newRequest(r *http.Request) *request {
	return &request{Request: r, id: headers.Request(r), began: time.Now(), path: trimAPI(r.URL.EscapedPath())}
}

// class is the throttling class of the operation, 0 when it has none.
func (r *request) class() int {
	if r.route == nil || int(r.route.Policy.Throttle) >= metrics.Classes {
		return 0
	}
	return int(r.route.Policy.Throttle)
}

// operation is the full name of the method of the operation, or "" if the request matches none.
func (r *request) operation() string {
	if r.route == nil {
		return ""
	}
	return r.route.Policy.Name[1:]
}

// rejecter refuses the requests that fail a check.
type rejecter struct{ bodyDrainer *listener.BodyDrainer }

// step returns the step that runs a check, and refuses the requests that fail it.
func (f rejecter) step(c check) step {
	return func(next handler) handler {
		return func(ctx context.Context, w *response, r *request) {
			if bad := c(ctx, w, r); bad != nil {
				f.reject(w, r, bad)
				return
			}
			next(ctx, w, r)
		}
	}
}

// reject writes the error, and then reads the rest of the body, so that the client reads the response.
func (f rejecter) reject(w *response, r *request, bad *fault.Error) {
	if bad.Status == http.StatusRequestTimeout {
		w.fail(bad) // The client stopped sending. Do not wait for it again.
		return
	}
	f.bodyDrainer.Respond(w.ResponseWriter, r.Request, r.caller != nil, func() { w.fail(bad) })
}

// trimAPI removes the prefix /api, which existing clients put before the paths of operations. The token paths keep
// it, because their names contain it.
func trimAPI(path string) string {
	if strings.HasPrefix(path, "/api/v") {
		return path[len("/api"):]
	}
	return path
}

// lookup finds the operation of the request. The check requireRoute reports a missing operation, after the
// request was counted against the rate of its caller.
func (e *Edge) lookup(_ context.Context, w *response, r *request) *fault.Error {
	r.route, r.values, r.missing = e.routes.Find(r.Method, r.path)
	if r.route == nil || !r.route.Policy.Public {
		w.Header()["Cache-Control"] = privateCaching
	}
	if r.route != nil {
		w.oauth, w.items, w.success = r.route.Policy.OAuthErrors, r.route.Policy.ErrorItems, r.route.Policy.SuccessStatus
	} else {
		w.items = r.missing.ErrorItems
	}
	return nil
}

// requireRoute refuses requests that match no operation. It runs after the check of the caller's rate, because it
// searches for the path that the caller may have meant.
func (e *Edge) requireRoute(_ context.Context, w *response, r *request) *fault.Error {
	if r.missing == nil {
		return nil
	}
	if r.missing.Allow != "" {
		w.Header().Set("Allow", r.missing.Allow)
	}
	return e.routes.Suggest(r.Method, r.path, r.missing.Fault)
}

// bindPath reads the parameters of the path. A path that has a word in the place of an id may be a misspelt path of
// another operation.
func (e *Edge) bindPath(_ context.Context, _ *response, r *request) (bad *fault.Error) {
	if r.params, bad = r.route.PathValues(r.values); bad != nil {
		bad = e.routes.Suggest(r.Method, r.path, bad)
	}
	return bad
}

// bindQuery reads the parameters of the query.
func bindQuery(_ context.Context, _ *response, r *request) (bad *fault.Error) {
	r.query, bad = r.route.QueryValues(r.URL.RawQuery)
	return bad
}

// requireTLS refuses requests that did not arrive over TLS, either directly or through a trusted proxy.
func requireTLS(trusted headers.Proxies) check {
	return func(_ context.Context, _ *response, r *request) *fault.Error {
		if trusted.HTTPS(r.Request) {
			return nil
		}
		return httpsOnly()
	}
}

func httpsOnly() *fault.Error {
	return fault.Forbidden(fault.CodeHTTPSOnly, "This service is only available over HTTPS. Use an https:// address.")
}
