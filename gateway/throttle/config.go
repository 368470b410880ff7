// Package throttle limits the request rates of callers. The platform service counts for all edges. An edge
// leases small parts of each caller's allowance from it, ahead of need and in the background, so that admitting
// a request costs neither a call nor a wait while the caller stays below its rate. Each request uses exactly
// one leased unit, however many edges run.
package throttle

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Config configures throttling. The zero value turns it off.
type Config struct {
	Enabled bool `name:"throttle" default:"true" negatable:"" help:"Limit the request rates of clients."`
	// Replicas is the number of edges, among which the rates are divided while the platform service is
	// unreachable.
	Replicas int `name:"throttle-replicas" default:"3" help:"Number of edges, among which the rates are divided while the platform service is unreachable."`
	// Callers bounds the memory: the number of pairs of caller and class in memory.
	Callers int `name:"throttle-callers" default:"65536" help:"Number of callers whose rates are in memory."`
}

// Key names an allowance.
type Key struct {
	// Tenant is the caller's tenant, or 0 for an unknown caller.
	Tenant int64
	// Caller is the OAuth client, or the address of an unknown caller.
	Caller string
	Class  optionsv1.Throttle
}

// Decision is the decision about a request, with the data for the response headers.
type Decision struct {
	Admitted bool
	// Policy is the caller's rate, and Remaining the estimated number of requests that are left.
	Policy    ratelimit.Policy
	Remaining int64
	// RetryAfter is the earliest time after which a refused caller may be admitted again.
	RetryAfter time.Duration

	fields *fields
}

const (
	// leaseLife is the age after which the next request renews a lease, so that the edge learns of changed
	// rates.
	leaseLife = 5 * time.Second
	// idle is the time without requests after which a lease is returned.
	idle = 2 * time.Second
	// evictAfter is the time without requests after which a caller is evicted from memory.
	evictAfter = 5 * time.Minute
	// leaseTimeout bounds a lease request, and the waiting of other requests for its result.
	leaseTimeout = time.Second
	// retryDown is the pause after a failed lease request.
	retryDown = 500 * time.Millisecond
	// maxConcurrentLeases bounds the lease requests that run at a time.
	maxConcurrentLeases = 256

	// Divisors of the burst for the smallest and the largest lease.
	leaseMin = 50
	leaseMax = 8
)
