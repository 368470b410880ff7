package boot

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// How much garbage there may be before it is collected, in percent of what is in use.
// Our programs hold little between requests and make much in one, so that Go's 100
// collects several times while a large response is made. When much is in use, which
// somebody may have brought about on purpose, three times as much garbage would be a
// danger: beyond maxGarbage there is no more of it than is in use.
const (
	gcPercent  = 300
	minPercent = 100
	maxGarbage = 128 << 20 // bytes
)

// percentFor returns the percentage for so many bytes that are in use.
func percentFor(live uint64) int {
	return int(max(minPercent, min(gcPercent, maxGarbage*100/max(live, 1))))
}

// memoryRatio is the part of a container's memory above which garbage is collected more
// often, whatever gcPercent says. The rest is for stacks, buffers of the kernel, and
// programs beside ours.
const memoryRatio = 0.8

// tuneCollector sets the garbage collector, unless the operator did (GOGC, GOMEMLIMIT,
// or AUTOMEMLIMIT for another part of the container's memory). Without a container the
// memory has no limit. The error says that there is one that cannot be read.
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

// followHeap returns what sets the percentage by what is in use.
func followHeap() func() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set := gcPercent
	return func() {
		metrics.Read(sample)
		// Setting it stops the world for a moment, so small changes are left.
		percent := percentFor(sample[0].Value.Uint64()) / 20 * 20
		if percent != set {
			set = percent
			debug.SetGCPercent(percent)
		}
	}
}

// afterCollections calls each after every collection, in the goroutine of finalizers: an
// object that nobody holds is collected every time.
func afterCollections(each func()) {
	type mark struct{ _ *byte }
	var again func(*mark)
	again = func(*mark) {
		each()
		runtime.SetFinalizer(&mark{}, again)
	}
	runtime.SetFinalizer(&mark{}, again)
}
