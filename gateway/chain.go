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
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// handler serves a request, or a part of its way: it does one thing, and lets the
// next handler do the rest.
type handler func(ctx context.Context, w *response, r *request)

// step puts a handler before another one.
type step func(next handler) handler

// check finds out something about a request, or what is wrong with it.
type check func(ctx context.Context, w *response, r *request) *fault.Error

// inOrder returns the handler that takes the steps one after the other.
func inOrder(last handler, steps ...step) handler {
	for i := len(steps) - 1; i >= 0; i-- {
		last = steps[i](last)
	}
	return last
}

// request is a request, with what the steps before have found out about it.
type request struct {
	*http.Request
	id    obs.Request
	span  tracing.Span
	began time.Time
	path  string // escaped, without the prefix /api

	route   *routing.Route   // nil when there is none,
	missing *routing.NoRoute // which this says
	values  []string         // of the path's parameters, in the order of the path
	params  map[string]string
	query   url.Values

	condition string // the If-Match, as the service gets it, or ""

	// caller is who is calling, and token by which token; nil for anonymous clients.
	caller *authn.Principal
	token  string

	body *requestBody // nil when there is none
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

// refusals refuse the requests that a check finds fault with.
type refusals struct{ bodyDrainer *listener.BodyDrainer }

// unless returns the step that refuses requests with which a check finds fault.
func (f refusals) unless(c check) step {
	return func(next handler) handler {
		return func(ctx context.Context, w *response, r *request) {
			if bad := c(ctx, w, r); bad != nil {
				f.refuse(w, r, bad)
				return
			}
			next(ctx, w, r)
		}
	}
}

// refuse says why a request is not carried out, and then lets its sender come to an
// end.
func (f refusals) refuse(w *response, r *request, bad *fault.Error) {
	if bad.Status == http.StatusRequestTimeout {
		w.fail(bad) // Whoever did not send is not waited for again.
		return
	}
	f.bodyDrainer.Respond(w.ResponseWriter, r.Request, r.caller != nil, func() { w.fail(bad) })
}

// trimAPI takes the prefix /api off a path, under which existing clients call
// the same operations. The token paths keep it: it is part of their name.
func trimAPI(path string) string {
	if strings.HasPrefix(path, "/api/v") {
		return path[len("/api"):]
	}
	return path
}

// lookup finds the operation that is asked for. That there is none is said when the
// request was taken from the rate of its caller.
func (e *Edge) lookup(_ context.Context, w *response, r *request) *fault.Error {
	r.route, r.values, r.missing = e.routes.Find(r.Method, r.path)
	if r.route == nil || !r.route.Policy.Public {
		w.Header()["Cache-Control"] = privateCaching
	}
	if r.route != nil {
		w.oauth, w.success = r.route.Policy.OAuthErrors, r.route.Policy.SuccessStatus
	}
	return nil
}

// routed refuses requests for which there is no operation.
func routed(_ context.Context, w *response, r *request) *fault.Error {
	if r.missing == nil {
		return nil
	}
	if r.missing.Allow != "" {
		w.Header().Set("Allow", r.missing.Allow)
	}
	return r.missing.Fault
}

// bindPath reads the parameters of the path.
func bindPath(_ context.Context, _ *response, r *request) (bad *fault.Error) {
	r.params, bad = r.route.PathValues(r.values)
	return bad
}

// bindQuery reads the parameters of the query.
func bindQuery(_ context.Context, _ *response, r *request) (bad *fault.Error) {
	r.query, bad = r.route.QueryValues(r.URL.RawQuery)
	return bad
}

// requireTLS refuses what did not come over TLS, to us or to a proxy that we
// trust.
func requireTLS(trusted headers.Proxies) check {
	return func(_ context.Context, _ *response, r *request) *fault.Error {
		if trusted.HTTPS(r.Request) {
			return nil
		}
		return httpsOnly()
	}
}

func httpsOnly() *fault.Error {
	return fault.Forbidden(fault.CodeHTTPSOnly, "This service is only available over HTTPS.")
}
