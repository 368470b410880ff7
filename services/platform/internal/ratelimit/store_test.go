package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Rates that were read before a change, and arrive after it, are not used for a second.
func TestRatesThatAChangeHasReplacedAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := NewStore(nil, ratelimit.Defaults{}, clock.System{})
	read := cached{at: time.Now(), rates: map[key]ratelimit.Policy{{optionsv1.Throttle_THROTTLE_READ, ""}: {Rate: 1}}}

	s.putCache(7, read, s.changes)
	assert.Contains(t, s.cached, int64(7))

	changes := s.changes // A read begins,
	s.invalidate(7)      // a rate is set meanwhile,
	s.putCache(7, read, changes)
	assert.NotContains(t, s.cached, int64(7), "and what was read is old")

	s.putCache(7, read, s.changes)
	assert.Contains(t, s.cached, int64(7))
}
