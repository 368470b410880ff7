package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// rates hold callers to their rates. The edge verifies tokens only to know
// whose allowance a request takes from; whether a caller is let in is the
// services' decision.
type rates struct {
	throttler *throttle.Throttler
	verifier  *authn.Verifier
}

// newRates answers nil when throttling is off.
func newRates(cfg Config, conns Conns, log *slog.Logger) (*rates, error) {
	if !cfg.Throttle.Enabled {
		return nil, nil
	}
	keys := authn.NewKeySet(authn.FetchRPC(authv1.NewTokenServiceClient(conns.Auth)), clock.System{})
	verifier, err := authn.NewVerifier(
		authn.Config{Issuer: cfg.TokenIssuer, Audience: cfg.TokenAudience}, keys, authn.NoRevocations{}, clock.System{})
	if err != nil {
		return nil, err
	}
	return &rates{
		throttler: throttle.New(cfg.Throttle, platformv1.NewRateLimitServiceClient(conns.Own), log),
		verifier:  verifier,
	}, nil
}

// admit takes the request from the allowance of its caller, and refuses it when
// nothing is left. Every answer says what is left. A path that names nothing
// counts as a read.
func (e *Edge) admit(x *exchange, r *http.Request) *fault.Error {
	if e.rates == nil {
		return nil
	}
	key := throttle.Key{Class: optionsv1.Throttle_THROTTLE_READ}
	public := false
	if x.route != nil {
		public = x.route.policy.Public
		if class := x.route.policy.Throttle; class != optionsv1.Throttle_THROTTLE_UNSPECIFIED {
			key.Class = class
		}
	}
	p := e.identify(x, &key, public, r)
	decision := e.rates.throttler.Take(r.Context(), key)
	decision.Write(x.Header())
	e.metrics.decided(key.Class, decision.Admitted)
	if decision.Admitted {
		return nil
	}
	bad := fault.TooMany("Too many requests: the rate of this class of operations is used up. "+
		"Wait as long as Retry-After says, and see GET /v1/platform/limits.", decision.RetryAfter).WithOAuth("slow_down")
	x.noteRefusal(p, bad)
	return bad
}

// identify finds out whose allowance it is: that of the client that the token
// was issued to, or of the address when there is no token that is good; then it
// answers nil. A token of another issuer is good once a service has accepted it.
func (e *Edge) identify(x *exchange, key *throttle.Key, public bool, r *http.Request) *authn.Principal {
	if !public {
		text := token(r.Header)
		p, err := e.rates.verifier.Verify(r.Context(), text)
		if err == nil {
			key.Tenant, key.Caller = p.Tenant, callerOf(p)
			return p
		}
		if issuer := authn.IssuerOf(text); issuer != "" && issuer != e.cfg.TokenIssuer {
			x.foreign = text
		}
	}
	key.Caller = "address:" + e.callerAddress(r)
	return nil
}

// learn remembers whose token of another issuer it was, when the service that
// answered says so.
func (x *exchange) learn(md metadata.MD) {
	if x.foreign == "" {
		return
	}
	if text := md.Get(rpc.HeaderCaller); len(text) > 0 {
		if p, ok := authn.ParseCaller(text[0]); ok {
			x.edge.rates.verifier.Remember(x.foreign, p)
		}
	}
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

// callerAddress is where the request comes from, as the last trusted proxy saw
// it.
func (e *Edge) callerAddress(r *http.Request) string {
	from := r.RemoteAddr
	if e.trusts(r) {
		if chain := r.Header.Values("X-Forwarded-For"); len(chain) > 0 {
			last := chain[len(chain)-1]
			from = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		}
	}
	return siteOf(from)
}

// siteOf answers what an address counts as, with its port or without: of IPv6 the
// network of one site, /64.
func siteOf(from string) string {
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	address, err := netip.ParseAddr(from)
	if err != nil {
		return "unknown"
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(64)
	return network.Addr().String()
}
