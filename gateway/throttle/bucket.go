package throttle

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// bucket is what an edge knows of one caller's allowance. Times are those since
// the throttler's start.
type bucket struct {
	key  Key
	used atomic.Int64 // when the last request came

	mu     sync.Mutex
	policy ratelimit.Policy
	fields *fields
	known  bool // whether the policy is the platform service's
	// lease is how many requests may still be admitted, want how many the next
	// lease asks for.
	lease, leaseSize int64
	// unleased is how many requests were admitted without a lease. The next
	// request settles it.
	unleased int64
	// remaining is what the platform service had left at the last lease.
	remaining int64
	leasedAt  time.Duration
	// pausedUntil is until when there is nothing to lease.
	pausedUntil time.Duration
	// leaseDone is closed when the lease that runs is settled; nil when none
	// runs. So many requests wait for it.
	leaseDone chan struct{}
	waiting   int64

	// local is the allowance while the platform service cannot be reached.
	local     float64
	localTime time.Duration
	localOn   bool
}

func newBucket(key Key) *bucket {
	b := &bucket{key: key}
	b.adopt(standard.Of(key.Class))
	b.leaseSize = b.policy.Burst / leaseMin
	return b
}

// lastUsed is when the last request came. It needs no lock.
func (b *bucket) lastUsed() time.Duration { return time.Duration(b.used.Load()) }

func (b *bucket) adopt(p ratelimit.Policy) {
	b.policy, b.fields = p, newFields(b.key.Class, p)
}

// applyLease takes over the response to a request for a lease.
func (b *bucket) applyLease(now time.Duration, req *platformv1.LeaseRateRequest, response *platformv1.LeaseRateResponse) {
	// Who uses leases up quickly gets larger ones, and fewer requests.
	switch since := now - b.leasedAt; {
	case since < 100*time.Millisecond:
		b.leaseSize *= 2
	case since > time.Second:
		b.leaseSize /= 2
	}
	if p := (ratelimit.Policy{Rate: response.GetRate(), Burst: response.GetBurst()}); p != b.policy {
		b.adopt(p)
		b.lease = 0 // It was measured by the rate that was.
	}
	b.leaseSize = min(max(b.leaseSize, b.policy.Burst/leaseMin, 1), max(b.policy.Burst/leaseMax, 1))
	b.known, b.localOn = true, false
	b.lease += response.GetGranted()
	b.remaining, b.leasedAt = response.GetRemaining(), now
	b.pausedUntil = 0
	if response.GetGranted() < req.GetWanted() {
		b.pausedUntil = now + time.Duration(response.GetRetryAfterMs())*time.Millisecond
	}
}

// trusted reports whether the next request is admitted before it is paid for.
// The first one is, and so are a few while much is left. What is unleased is settled
// within milliseconds, so all edges together stay within the rate.
func (b *bucket) trusted(now time.Duration) bool {
	if !b.known {
		return b.unleased == 0 && b.leaseDone == nil
	}
	return b.unleased < b.policy.Burst/leaseMin && b.estimateRemaining(now) > b.policy.Burst/2
}

// estimateRemaining is how many requests are left of the allowance, as far as is known.
func (b *bucket) estimateRemaining(now time.Duration) int64 {
	if !b.known {
		return b.policy.Burst - b.unleased
	}
	grown := b.remaining + int64(b.policy.Rate*(now-b.leasedAt).Seconds())
	return max(min(grown+b.lease, b.policy.Burst)-b.unleased, 0)
}

func (b *bucket) admit(now time.Duration) Decision {
	return Decision{Admitted: true, Policy: b.policy, Remaining: b.estimateRemaining(now), fields: b.fields}
}

func (b *bucket) refuse(after time.Duration) Decision {
	return Decision{Policy: b.policy, RetryAfter: after, fields: b.fields}
}

// await waits for the response to the request that runs. It reports whether one
// came. The caller holds the bucket, but not while it waits.
func (b *bucket) await(ctx context.Context) bool {
	flight := b.leaseDone
	b.waiting++
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.waiting--
	}()
	timer := time.NewTimer(leaseTimeout)
	defer timer.Stop()
	select {
	case <-flight:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// fallBack decides from this edge's part of the rate, while nobody counts for
// all of them. What was admitted so is not settled later: by then the allowance
// would have grown again.
func (b *bucket) fallBack(now time.Duration, replicas int) Decision {
	rate := b.policy.Rate / float64(replicas)
	burst := max(float64(b.policy.Burst)/float64(replicas), 1)
	if !b.localOn {
		b.local, b.localTime, b.localOn, b.unleased = burst, now, true, 0
	}
	b.local = min(burst, b.local+rate*max(now-b.localTime, 0).Seconds())
	b.localTime = now
	if b.local < 1 {
		return b.refuse(time.Duration((1 - b.local) / rate * float64(time.Second)))
	}
	b.local--
	return Decision{Admitted: true, Policy: b.policy, Remaining: int64(b.local), fields: b.fields}
}
