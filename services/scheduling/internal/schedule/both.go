package schedule

import (
	"sync"

	"github.com/rotaloom/rotaloom/pkg/panics"
)

// runBoth runs two functions concurrently. It returns the error of the first, or else the error of
// the second. A panic of the second becomes an error, because nothing else would recover it.
func runBoth(first, second func() error) error {
	var other error
	var running sync.WaitGroup
	running.Go(func() {
		defer panics.ToError(&other)
		other = second()
	})
	err := first()
	running.Wait()
	if err != nil {
		return err
	}
	return other
}
