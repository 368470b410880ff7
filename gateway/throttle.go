package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// newThrottler answers nil when throttling is off.
func newThrottler(cfg Config, conns Conns, log *slog.Logger) *throttle.Throttler {
	if !cfg.Throttle.Enabled {
		return nil
	}
	return throttle.New(cfg.Throttle, platformv1.NewRateLimitServiceClient(conns.Own), log)
}

// admit takes the request from the allowance of its caller, that is of the client that
// the token was issued to, or of the address while the caller is not known. It refuses
// the request when nothing is left. Every answer says what is left. A path that names
// nothing counts as a read.
func (e *Edge) admit(x *exchange, r *http.Request, key throttle.Key) *fault.Error {
	if e.throttler == nil {
		return nil
	}
	if p := x.principal; p != nil {
		key.Tenant, key.Caller = p.Tenant, callerOf(p)
	} else {
		key.Caller = "address:" + e.proxies.address(r)
	}
	decision := e.throttler.Take(r.Context(), key)
	decision.Write(x.Header())
	e.metrics.decided(key.Class, decision.Admitted)
	if decision.Admitted {
		return nil
	}
	bad := fault.TooMany("Too many requests: the rate of this class of operations is used up. "+
		"Wait as long as Retry-After says, and see GET /v1/platform/limits.", decision.RetryAfter).WithOAuth("slow_down")
	x.edge.denials.note(x, x.principal, bad)
	return bad
}

// maxCaller is the longest name that the platform service takes, in bytes.
const maxCaller = 200

// callerOf is the client that a token was issued to, or the user when it names
// none.
func callerOf(p *authn.Principal) string {
	caller := p.Client
	if caller == "" {
		caller = "user:" + p.Subject
	}
	if len(caller) > maxCaller {
		sum := sha256.Sum256([]byte(caller))
		return "long:" + hex.EncodeToString(sum[:])
	}
	return caller
}
