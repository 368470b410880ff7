package gateway

import (
	"context"
	"net/http"

	"github.com/rotaloom/rotaloom/gateway/apidocs"
	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// docs serves the API description and its page to all clients, within the rate of the client's address.
type docs struct {
	rejecter rejecter
	proxies  headers.Proxies
	callers  *identification
}

// serve is the step that serves the pages, and passes all other requests on.
func (d *docs) serve(next handler) handler {
	return func(ctx context.Context, w *response, r *request) {
		page := apidocs.Find(r.URL.Path)
		if page == nil {
			next(ctx, w, r)
			return
		}
		if bad := d.check(ctx, w, r); bad != nil {
			d.rejecter.reject(w, r, bad)
			return
		}
		page.ServeHTTP(w, r.Request)
	}
}

func (d *docs) check(ctx context.Context, w *response, r *request) *fault.Error {
	if bad := requireTLS(d.proxies)(ctx, w, r); bad != nil {
		return bad
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return fault.New(fault.CodeMethodNotAllowed, http.StatusMethodNotAllowed, "This page only supports GET and HEAD.")
	}
	return d.callers.take(ctx, w, r, throttle.Key{Class: optionsv1.Throttle_THROTTLE_READ})
}
