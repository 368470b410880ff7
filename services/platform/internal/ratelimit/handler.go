// Package ratelimit stores the call rates of clients, and counts their use for the whole installation: the
// edges lease parts of each allowance from it.
package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// maxRates is the largest number of rates that a tenant may set.
const maxRates = 10_000

// Handler serves RateLimitService.
type Handler struct {
	platformv1.UnsafeRateLimitServiceServer

	store *Store
	log   *slog.Logger
}

var _ platformv1.RateLimitServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(store *Store, log *slog.Logger) *Handler { return &Handler{store: store, log: log} }

// Run removes unused allowances until ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	ctx = tenant.All(ctx)
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := h.store.Sweep(ctx); err != nil && ctx.Err() == nil {
				h.log.WarnContext(ctx, "sweeping allowances", "error", err)
			}
		}
	}
}

// LeaseRate settles the requests that an edge has admitted, and grants more.
func (h *Handler) LeaseRate(ctx context.Context, req *platformv1.LeaseRateRequest) (*platformv1.LeaseRateResponse, error) {
	l := lease{
		caller: req.GetCaller(), class: req.GetThrottle(),
		spent: req.GetSpent(), returned: req.GetReturned(), wanted: req.GetWanted(),
	}
	policy, _, err := h.store.Rate(ctx, l.class, l.caller)
	if err != nil {
		return nil, err
	}
	tenantID, known := tenant.From(ctx)
	if l.tenantID = tenantID; !known {
		ctx = tenant.All(ctx) // the rows of unknown callers
	}
	tokens, granted, err := h.store.take(ctx, l, policy)
	if err != nil {
		return nil, err
	}
	response := &platformv1.LeaseRateResponse{
		Granted: granted, Remaining: max(int64(tokens), 0), Rate: policy.Rate, Burst: policy.Burst,
	}
	if granted < l.wanted {
		response.RetryAfterMs = waitFor(tokens, policy.Rate)
	}
	return response, nil
}

// pause is the shortest time before an edge that got less than it wanted asks again, so that many refused
// requests cause few calls.
const pause = 25 * time.Millisecond

// waitFor returns the milliseconds until the allowance suffices for a request.
func waitFor(tokens, rate float64) int64 {
	wait := math.Ceil(1000 * (1 - tokens) / rate)
	return max(int64(wait), pause.Milliseconds())
}

// ListRateLimits returns the rates that the tenant has set.
func (h *Handler) ListRateLimits(ctx context.Context, _ *platformv1.ListRateLimitsRequest) (*platformv1.RateLimitList, error) {
	rows, err := h.store.list(ctx)
	if err != nil {
		return nil, err
	}
	list := &platformv1.RateLimitList{}
	for _, row := range rows {
		origin := Client
		if row.client == "" {
			origin = Tenant
		}
		policy := row.policy.AtMost(h.store.defaults.Max(row.class))
		list.RateLimits = append(list.RateLimits, rateLimitToProto(row.key, policy, origin))
	}
	return list, nil
}

// GetRateLimit returns the rate of a class, or of a client in it.
func (h *Handler) GetRateLimit(ctx context.Context, req *platformv1.GetRateLimitRequest) (*platformv1.RateLimit, error) {
	k, err := parseKey(req.GetThrottleClass(), req.GetClientId())
	if err != nil {
		return nil, err
	}
	policy, origin, err := h.store.Rate(ctx, k.class, k.client)
	if err != nil {
		return nil, err
	}
	return rateLimitToProto(k, policy, origin), nil
}

// PutRateLimit sets a rate.
func (h *Handler) PutRateLimit(ctx context.Context, req *platformv1.PutRateLimitRequest) (*platformv1.RateLimit, error) {
	k, err := settableKey(req.GetThrottleClass(), req.GetClientId())
	if err != nil {
		return nil, err
	}
	policy := ratelimit.Policy{Rate: req.GetRateLimit().GetRate(), Burst: req.GetRateLimit().GetBurst()}
	if err := policy.Check(); err != nil {
		return nil, fault.Invalid(codeRate, "The rate limit is invalid: "+err.Error()+".")
	}
	if most := h.store.defaults.Max(k.class); policy.AtMost(most) != policy {
		return nil, fault.Invalid(codeCeiling, fmt.Sprintf("The rate limit exceeds the installation's ceiling for the class %s: "+
			"%s requests per second, and a burst of %d. An operator can raise it: --rate-ceiling of platform, --platform-rate-ceiling of rotaloom.",
			ratelimit.Name(k.class), strconv.FormatFloat(most.Rate, 'f', -1, 64), most.Burst))
	}
	set, err := h.store.putRate(ctx, k, policy)
	if err != nil {
		return nil, err
	}
	if !set {
		return nil, fault.Newf(codeTooMany, http.StatusConflict,
			"There are %d rate limits already, which is the limit. Remove those of former clients.", maxRates)
	}
	origin := Client
	if k.client == "" {
		origin = Tenant
	}
	return rateLimitToProto(k, policy, origin), nil
}

// DeleteRateLimit removes a rate.
func (h *Handler) DeleteRateLimit(ctx context.Context, req *platformv1.DeleteRateLimitRequest) (*emptypb.Empty, error) {
	k, err := settableKey(req.GetThrottleClass(), req.GetClientId())
	if err != nil {
		return nil, err
	}
	removed, err := h.store.remove(ctx, k)
	if err != nil {
		return nil, err
	}
	if !removed {
		return nil, fault.NotFound(fault.CodeNotFound, "No rate limit is set for this class and client.")
	}
	return &emptypb.Empty{}, nil
}

// Error codes.
const (
	// codeRate (400): a rate or burst is out of bounds.
	codeRate = "WRL-60001"
	// codeTooMany (409): the tenant has the largest allowed number of rate limits. Remove rate limits
	// of former clients first.
	codeTooMany = "WRL-60002"
	// codeByAddress (400): the class is counted by address, before the tenant is known, so only the
	// installation can set its rate. Ask an operator to set the rate.
	codeByAddress = "WRL-60003"
	// codeCeiling (400): the rate or the burst exceeds the installation's ceiling for tenants. Send a
	// lower rate, or ask an operator to raise the ceiling.
	codeCeiling = "WRL-60004"
)

func parseKey(class, client string) (key, error) {
	found, ok := ratelimit.Class(class)
	if !ok {
		return key{}, fault.NotFound(fault.CodeNotFound,
			fmt.Sprintf("There is no throttling class %.40q. Use read, bulk_read, write, bulk_write or login.", class))
	}
	return key{found, client}, nil
}

func settableKey(class, client string) (key, error) {
	k, err := parseKey(class, client)
	if err == nil && k.class == optionsv1.Throttle_THROTTLE_LOGIN {
		return k, fault.Invalid(codeByAddress, "The class login is counted by address, before the tenant is known. "+
			"Its rate is a setting of the installation: --rate-login of platform, --platform-rate-login of rotaloom.")
	}
	return k, err
}

func rateLimitToProto(k key, p ratelimit.Policy, origin Origin) *platformv1.RateLimit {
	r := &platformv1.RateLimit{ThrottleClass: ratelimit.Name(k.class), Rate: p.Rate, Burst: p.Burst, Origin: string(origin)}
	if k.client != "" {
		r.ClientId = proto.String(k.client)
	}
	return r
}
