package boot

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test changes settings of the whole process, so it runs alone.
func TestTheMemoryLimitFollowsTheContainer(t *testing.T) {
	before, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetMemoryLimit(before); debug.SetGCPercent(percent) })
	const container = 1 << 30
	require.NoError(t, tuneCollector(memlimit.Limit(container)))
	assert.InDelta(t, memoryRatio*container, debug.SetMemoryLimit(-1), 1)

	for i, none := range []error{memlimit.ErrNoLimit, memlimit.ErrCgroupsNotSupported, memlimit.ErrNoCgroup} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			require.NoError(t, tuneCollector(func() (uint64, error) { return 0, none }))
			assert.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1), "%v", none)
		})
	}
	broken := errors.New("broken")
	require.ErrorIs(t, tuneCollector(func() (uint64, error) { return 0, broken }), broken)

	t.Setenv("GOMEMLIMIT", "700MiB")
	debug.SetMemoryLimit(700 << 20)
	require.NoError(t, tuneCollector(memlimit.Limit(container)))
	assert.EqualValues(t, 700<<20, debug.SetMemoryLimit(-1), "the operator's")
}

func TestGarbageIsBoundedWhenMuchIsInUse(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for live, want := range map[uint64]int{0: 300, 20 * mib: 300, 64 * mib: 200, 128 * mib: 100, 4096 * mib: 100} {
		t.Run(fmt.Sprint(live), func(t *testing.T) {
			assert.Equal(t, want, percentFor(live), "%d MiB", live/mib)
		})
	}
}

// A collection is noticed, and the next one too.
func TestCollectionsAreFollowed(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{}, 100)
	afterCollections(func() {
		select {
		case seen <- struct{}{}:
		default:
		}
	})
	for range 3 {
		runtime.GC()
		<-seen
	}
}
