package gateway

import (
	"net/http"

	"github.com/rotaloom/rotaloom/gateway/apidocs"
	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// serveDocs serves the API description and its page to anybody, at the rate of
// the caller's address. It reports whether the request was for one of them.
func (x *exchange) serveDocs(r *http.Request) bool {
	if !x.edge.cfg.Docs {
		return false
	}
	page := apidocs.Find(r.URL.Path)
	if page == nil {
		return false
	}
	if bad := x.checkDocs(r); bad != nil {
		x.refuse(r, bad)
		return true
	}
	page.ServeHTTP(x, r)
	return true
}

func (x *exchange) checkDocs(r *http.Request) *fault.Error {
	if bad := x.edge.proxies.requireTLS(r); bad != nil {
		return bad
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		x.Header().Set("Allow", "GET, HEAD")
		return fault.New(fault.CodeMethodNotAllowed, http.StatusMethodNotAllowed, "This page is read by GET.")
	}
	return x.edge.admit(x, r, throttle.Key{Class: optionsv1.Throttle_THROTTLE_READ})
}
