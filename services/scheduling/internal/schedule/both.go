package schedule

import (
	"sync"

	"github.com/rotaloom/rotaloom/pkg/panics"
)

// both runs two functions at the same time and returns the first's error, or
// else the second's. A panic of the second, which nobody else would catch, is an
// error.
func both(first, second func() error) error {
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
