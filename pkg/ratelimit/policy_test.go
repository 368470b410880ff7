package ratelimit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

func TestPoliciesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, class := range ratelimit.Classes() {
		want := ratelimit.Standard().Of(class)
		var read ratelimit.Policy
		require.NoError(t, read.UnmarshalText([]byte(want.String())))
		assert.Equal(t, want, read)
		assert.Equal(t, want, ratelimit.Defaults{}.Of(class), "nothing set")
		found, ok := ratelimit.Class(ratelimit.Name(class))
		assert.True(t, ok)
		assert.Equal(t, class, found)
	}
	for _, bad := range []string{"", "5", "5/", "/5", "x/5", "5/x", "0/5", "-1/5", "NaN/5", "5/0", "5/1.5", "1e9/5"} {
		t.Run(bad, func(t *testing.T) {
			assert.Error(t, new(ratelimit.Policy).UnmarshalText([]byte(bad)), bad)
		})
	}
	for _, bad := range []string{"", "Read", "unspecified", "reading"} {
		t.Run(bad, func(t *testing.T) {
			_, ok := ratelimit.Class(bad)
			assert.False(t, ok, bad)
		})
	}
	set := ratelimit.Defaults{Login: ratelimit.Policy{Rate: 0.3, Burst: 1}}
	assert.EqualValues(t, 4, set.Of(optionsv1.Throttle_THROTTLE_LOGIN).Window(), "rounded up")
}

func TestPoliciesMayReachTheirBounds(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0.125/3", ratelimit.Policy{Rate: 0.125, Burst: 3}.String())
	for name, c := range map[string]struct {
		policy ratelimit.Policy
		good   bool
	}{
		"least rate":            {ratelimit.Policy{Rate: ratelimit.MinRate, Burst: 1}, true},
		"less than that":        {ratelimit.Policy{Rate: ratelimit.MinRate / 2, Burst: 1}, false},
		"most of both":          {ratelimit.Policy{Rate: ratelimit.MaxRate, Burst: ratelimit.MaxBurst}, true},
		"rate above the most":   {ratelimit.Policy{Rate: ratelimit.MaxRate + 1, Burst: ratelimit.MaxBurst}, false},
		"bursts above the most": {ratelimit.Policy{Rate: ratelimit.MaxRate, Burst: ratelimit.MaxBurst + 1}, false},
		"no burst":              {ratelimit.Policy{Rate: 1, Burst: 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.good, c.policy.Check() == nil)
		})
	}
	assert.ErrorContains(t, new(ratelimit.Policy).UnmarshalText([]byte("5")), "for example")
	assert.ErrorContains(t, new(ratelimit.Policy).UnmarshalText([]byte("x/5")), "for example")
}

func TestTheCeilingOfTenants(t *testing.T) {
	t.Parallel()
	write := optionsv1.Throttle_THROTTLE_WRITE
	assert.Equal(t, ratelimit.Policy{Rate: 20_000, Burst: 40_000}, ratelimit.Defaults{}.Max(write), "ten times the default")
	set := ratelimit.Defaults{Write: ratelimit.Policy{Rate: 3, Burst: 5}, Ceiling: 0.5}
	assert.Equal(t, ratelimit.Policy{Rate: 1.5, Burst: 2}, set.Max(write))
	set.Ceiling = 1e12
	assert.Equal(t, ratelimit.Policy{Rate: ratelimit.MaxRate, Burst: ratelimit.MaxBurst}, set.Max(write))
	assert.Equal(t, ratelimit.Policy{Rate: 1, Burst: 2}, ratelimit.Policy{Rate: 1, Burst: 9}.AtMost(ratelimit.Policy{Rate: 4, Burst: 2}))
}
