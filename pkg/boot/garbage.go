package boot

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// These bound the garbage before a collection, in percent of the live heap. Our programs hold
// little between requests and allocate much in one, so Go's default of 100 would collect several
// times during a large response. With a large live heap, which an attacker may cause on purpose,
// 300 percent of garbage would be a risk. Beyond maxGarbage, there is at most as much garbage as
// live data.
const (
	gcPercent  = 300
	minPercent = 100
	maxGarbage = 128 << 20 // bytes
)

// percentFor returns the percentage for a live heap of that many bytes.
func percentFor(live uint64) int {
	return int(max(minPercent, min(gcPercent, maxGarbage*100/max(live, 1))))
}

// memoryRatio is the fraction of a container's memory at which garbage is collected more often,
// regardless of gcPercent. The rest is for stacks, kernel buffers and other programs.
const memoryRatio = 0.8

// tuneCollector configures the garbage collector, unless the operator did (GOGC, GOMEMLIMIT, or
// AUTOMEMLIMIT for another fraction of the container's memory). Without a container, the memory has
// no limit. The error means that the limit cannot be read.
func tuneCollector(container memlimit.Provider) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		afterCollections(followHeap())
	}
	_, err := memlimit.Set(memlimit.WithRatio(memoryRatio), memlimit.WithProvider(container))
	if errors.Is(err, memlimit.ErrCgroupsNotSupported) || errors.Is(err, memlimit.ErrNoCgroup) {
		return nil
	}
	return err
}

// followHeap returns a function that sets the percentage by the live heap.
func followHeap() func() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set := gcPercent
	return func() {
		metrics.Read(sample)
		// Each change stops the world briefly, so ignore small differences.
		percent := percentFor(sample[0].Value.Uint64()) / 20 * 20
		if percent != set {
			set = percent
			debug.SetGCPercent(percent)
		}
	}
}

// afterCollections calls fn after every collection, on the finalizer goroutine: it allocates an
// unreferenced object, which each collection finalizes.
func afterCollections(fn func()) {
	type mark struct{ _ *byte }
	var again func(*mark)
	again = func(*mark) {
		fn()
		runtime.SetFinalizer(&mark{}, again)
	}
	runtime.SetFinalizer(&mark{}, again)
}
