// Package throttle holds callers to their rates. The one that counts is the
// platform service; an edge leases small parts of each caller's allowance from
// it, ahead of need and in the background, so that admitting a request costs
// neither a call nor a wait while a caller stays below its rate. A request is
// admitted by exactly one leased part, however many edges there are.
package throttle

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Config says whether and how an edge throttles. The zero value does not.
type Config struct {
	Enabled bool `name:"throttle" default:"true" negatable:"" help:"Hold clients to their rates."`
	// Replicas divide the rates among the edges while the platform service
	// cannot be reached.
	Replicas int `name:"throttle-replicas" default:"3" help:"Number of edges, which divide the rates among them while the platform service cannot be reached."`
	// Callers bounds the memory: so many callers times classes are remembered.
	Callers int `name:"throttle-callers" default:"65536" help:"Callers whose rates are remembered."`
}

// Key names an allowance.
type Key struct {
	// Tenant of the caller, or 0 for one who is not known yet.
	Tenant int64
	// Caller is the OAuth client, or the address of a caller without one.
	Caller string
	Class  optionsv1.Throttle
}

// Decision says whether a request is admitted, and what the caller may know.
type Decision struct {
	Admitted bool
	// Policy is the caller's rate, Left how many requests are left of it, as
	// far as this edge knows.
	Policy    ratelimit.Policy
	Remaining int64
	// RetryAfter is when a refused caller is admitted again, at the earliest.
	RetryAfter time.Duration

	fields *fields
}

const (
	// leaseLife is after how long a lease is renewed with the next request, so
	// that changed rates come to be known.
	leaseLife = 5 * time.Second
	// idle is after how long without a request a lease is given back.
	idle = 2 * time.Second
	// evictAfter is after how long a caller without requests is forgotten.
	evictAfter = 5 * time.Minute
	// leaseTimeout bounds a request to the platform service, and how long a
	// request waits for its response.
	leaseTimeout = time.Second
	// retryDown is how long after a failure the platform service is not asked.
	retryDown = 500 * time.Millisecond
	// maxConcurrentLeases bounds the questions that run at a time.
	maxConcurrentLeases = 256

	// Parts of the burst: the smallest and the largest lease.
	leaseMin = 50
	leaseMax = 8
)
