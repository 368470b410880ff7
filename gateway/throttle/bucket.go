package throttle

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// bucket is an edge's view of one caller's allowance. Times are relative to the throttler's start.
type bucket struct {
	key  Key
	used atomic.Int64 // time of the last request

	mu     sync.Mutex
	policy ratelimit.Policy
	fields *fields
	known  bool // whether the policy came from the platform service
	// lease is the number of requests that may still be admitted, and leaseSize the size of the next lease.
	lease, leaseSize int64
	// unleased is the number of requests that were admitted without a lease. The next lease request settles it.
	unleased int64
	// remaining is the allowance that was left at the platform service at the last lease.
	remaining int64
	leasedAt  time.Duration
	// pausedUntil is the time before which no lease is available.
	pausedUntil time.Duration
	// leaseDone is closed when the running lease request has ended; nil while none runs. waiting counts the
	// requests that wait for it.
	leaseDone chan struct{}
	waiting   int64

	// local is the allowance while the platform service is unreachable.
	local     float64
	localTime time.Duration
	localOn   bool
}

func newBucket(key Key) *bucket {
	b := &bucket{key: key}
	b.adoptPolicy(standard.Of(key.Class))
	b.leaseSize = b.policy.Burst / leaseMin
	return b
}

// lastUsed returns the time of the last request. It needs no lock.
func (b *bucket) lastUsed() time.Duration { return time.Duration(b.used.Load()) }

func (b *bucket) adoptPolicy(p ratelimit.Policy) {
	b.policy, b.fields = p, newFields(b.key.Class, p)
}

// applyLease applies the response to a lease request.
func (b *bucket) applyLease(now time.Duration, req *platformv1.LeaseRateRequest, response *platformv1.LeaseRateResponse) {
	// A caller that uses leases up quickly gets larger ones, and so fewer lease requests.
	switch since := now - b.leasedAt; {
	case since < 100*time.Millisecond:
		b.leaseSize *= 2
	case since > time.Second:
		b.leaseSize /= 2
	}
	if p := (ratelimit.Policy{Rate: response.GetRate(), Burst: response.GetBurst()}); p != b.policy {
		b.adoptPolicy(p)
		b.lease = 0 // The old lease was granted at the old rate.
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

// trustsNext reports whether to admit the next request without a lease. That applies to the first request, and to
// a few more while much of the allowance is left. Unleased requests are settled within milliseconds, so that
// all edges together stay within the rate.
func (b *bucket) trustsNext(now time.Duration) bool {
	if !b.known {
		return b.unleased == 0 && b.leaseDone == nil
	}
	return b.unleased < b.policy.Burst/leaseMin && b.estimateRemaining(now) > b.policy.Burst/2
}

// estimateRemaining returns the estimated rest of the allowance.
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

// await waits for the end of the running lease request, and reports whether it ended in time. The caller holds
// the bucket's lock, which await releases while it waits.
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

// fallBack decides by this edge's part of the rate while the platform service is unreachable. Requests that it
// admits are not settled later, because the allowance has recovered by then.
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
