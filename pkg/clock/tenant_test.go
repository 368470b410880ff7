package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

func TestTheClockOfATenantIsAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	assert.Equal(t, now, clock.OfTenant(t.Context(), now), "a tenant without a clock has the real time")

	ahead := clock.WithAhead(t.Context(), 48*time.Hour)
	assert.Equal(t, 48*time.Hour, clock.Ahead(ahead))
	assert.Equal(t, time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC), clock.OfTenant(ahead, now))
	assert.Equal(t, now, clock.OfTenant(clock.WithAhead(ahead, 0), now), "the inner value wins")
}
