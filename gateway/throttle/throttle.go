package throttle

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// shards is the number of locks, so that concurrent requests of different callers do not wait for one lock.
const shards = 32

// Throttler decides whether to admit requests. It is safe for concurrent use.
type Throttler struct {
	cfg     Config
	client  platformv1.RateLimitServiceClient
	log     *slog.Logger
	running clock.Stopwatch
	seed    maphash.Seed
	shards  [shards]shard

	leaseSlots chan struct{} // one for each running lease request
	failing    atomic.Bool   // whether the last lease request failed
	warned     atomic.Bool   // whether a warning was logged, after two failures in a row
	retryAt    atomic.Int64  // no lease request before this time
	sweeping   atomic.Bool   // whether a sweep is scheduled
}

type shard struct {
	mu      sync.RWMutex
	buckets map[Key]*bucket
}

// New returns a Throttler that leases from the platform service through client.
func New(cfg Config, client platformv1.RateLimitServiceClient, log *slog.Logger) *Throttler {
	cfg = defaults.Fill(cfg)
	t := &Throttler{
		cfg: cfg, client: client, log: log, running: clock.Start(), seed: maphash.MakeSeed(),
		leaseSlots: make(chan struct{}, maxConcurrentLeases),
	}
	for i := range t.shards {
		t.shards[i].buckets = map[Key]*bucket{}
	}
	return t
}

// now returns the time since the start. It is monotonic.
func (t *Throttler) now() time.Duration { return t.running.Elapsed() }

// Take decides about one request. It waits only if a caller uses leases up faster than new ones arrive, and for
// a second at most.
func (t *Throttler) Take(ctx context.Context, key Key) Decision {
	b := t.bucket(key)
	now := t.now()
	b.used.Store(int64(now))
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if b.lease > 0 {
			b.lease--
			if b.lease < b.leaseSize/2 || now-b.leasedAt > leaseLife {
				t.renewLease(b, now)
			}
			return b.admit(now)
		}
		if t.failing.Load() {
			t.renewLease(b, now)
			return b.fallBack(now, t.cfg.Replicas)
		}
		if now < b.pausedUntil {
			return b.refuse(b.pausedUntil - now)
		}
		if b.trustsNext(now) {
			b.unleased++
			t.renewLease(b, now)
			return b.admit(now)
		}
		t.renewLease(b, now)
		if b.leaseDone == nil || !b.await(ctx) {
			return b.fallBack(t.now(), t.cfg.Replicas)
		}
		now = t.now()
	}
}

// bucket returns the bucket of a caller, and creates it if necessary.
func (t *Throttler) bucket(key Key) *bucket {
	s := &t.shards[maphash.Comparable(t.seed, key)%shards]
	s.mu.RLock()
	b := s.buckets[key]
	s.mu.RUnlock()
	if b != nil {
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b = s.buckets[key]; b != nil {
		return b
	}
	if len(s.buckets) >= max(t.cfg.Callers/shards, 1) {
		s.evictIdle()
	}
	b = newBucket(key)
	s.buckets[key] = b
	return b
}

// evictIdle evicts the least recently used one of a few buckets, in the random order of the map.
func (s *shard) evictIdle() {
	const looks = 16
	var oldest *bucket
	seen := 0
	for _, b := range s.buckets {
		if oldest == nil || b.lastUsed() < oldest.lastUsed() {
			oldest = b
		}
		if seen++; seen == looks {
			break
		}
	}
	delete(s.buckets, oldest.key)
}

// renewLease requests a lease in the background, unless a request is running or would be useless now. The
// caller holds the bucket's lock.
func (t *Throttler) renewLease(b *bucket, now time.Duration) {
	if b.leaseDone != nil || now < b.pausedUntil || now < time.Duration(t.retryAt.Load()) {
		return
	}
	select {
	case t.leaseSlots <- struct{}{}:
	default:
		return // The limit is reached: the next request tries again.
	}
	req := &platformv1.LeaseRateRequest{
		Caller: b.key.Caller, Throttle: b.key.Class, Spent: b.unleased, Wanted: max(b.leaseSize, b.waiting),
	}
	if b.lease > req.Wanted {
		req.Wanted = 0 // The lease suffices. The request only settles and refreshes the policy.
	}
	b.unleased, b.leaseDone = 0, make(chan struct{})
	go func() {
		defer func() { <-t.leaseSlots }()
		response, err := t.lease(b.key, req)
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.leaseDone)
		b.leaseDone = nil
		t.note(err)
		if err == nil {
			b.applyLease(t.now(), req, response)
			t.sweepLater()
		}
	}()
}

func (t *Throttler) lease(key Key, req *platformv1.LeaseRateRequest) (*platformv1.LeaseRateResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), leaseTimeout)
	defer cancel()
	if key.Tenant > 0 {
		ctx = tenant.With(ctx, key.Tenant)
	}
	return t.client.LeaseRate(ctx, req)
}

// note records whether the platform service answers.
func (t *Throttler) note(err error) {
	if err == nil {
		t.failing.Store(false)
		if t.warned.Swap(false) {
			t.log.Info("the platform service counts rates again")
		}
		return
	}
	t.retryAt.Store(int64(t.now() + retryDown))
	// A single failure happens in every rollout, when a service stops.
	if t.failing.Swap(true) && !t.warned.Swap(true) {
		t.log.Warn("the platform service does not count rates; each edge applies its share of the rates", "replicas", t.cfg.Replicas, "error", err)
	}
}

// sweepLater schedules a sweep.
func (t *Throttler) sweepLater() {
	if !t.sweeping.Swap(true) {
		time.AfterFunc(idle/2, t.sweep)
	}
}

// sweep returns the leases of idle callers, and evicts callers that have been idle for long.
func (t *Throttler) sweep() {
	t.sweeping.Store(false)
	now, active := t.now(), false
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		var silent []*bucket
		for key, b := range s.buckets {
			switch age := now - b.lastUsed(); {
			case age > evictAfter:
				delete(s.buckets, key)
			case age > idle:
				silent = append(silent, b)
			default:
				active = true
			}
		}
		s.mu.Unlock()
		for _, b := range silent {
			t.returnUnused(b, now)
		}
	}
	if active {
		t.sweepLater()
	}
}

// returnUnused returns the unused lease of an idle caller. If the allowance is full by now, there is nothing to
// return.
func (t *Throttler) returnUnused(b *bucket, now time.Duration) {
	b.mu.Lock()
	returned, spent := b.lease, b.unleased
	full := b.remaining+int64(b.policy.Rate*(now-b.leasedAt).Seconds()) >= b.policy.Burst
	if b.leaseDone != nil || now-b.lastUsed() <= idle {
		b.mu.Unlock()
		return
	}
	b.lease, b.unleased = 0, 0
	b.mu.Unlock()
	if full && spent == 0 || returned+spent == 0 || t.failing.Load() {
		return
	}
	_, err := t.lease(b.key, &platformv1.LeaseRateRequest{
		Caller: b.key.Caller, Throttle: b.key.Class, Returned: returned, Spent: spent,
	})
	t.note(err)
}

// standard is the rate of a caller until the platform service reports another.
var standard = ratelimit.Standard()
