package pgerr

import (
	"errors"
	"sync/atomic"
	"time"
)

// errFull is the readiness error while the server cannot store anything.
var errFull = errors.New("the disk of the PostgreSQL server is full, or cannot be written: make room on it")

// fullFor is how long a process is not ready after the last such error. Only the next write shows
// that there is space again.
const fullFor = 30 * time.Second

// fullAt is the time of the last such error in this process, in nanoseconds since 1970.
var fullAt atomic.Int64

// Full reports whether err means that the server has no disk space, or cannot write to its disk.
func Full(err error) bool { return hasState(err, diskFull, ioError) }

// noteFull records the time of such an error.
func noteFull(now time.Time) { fullAt.Store(now.UnixNano()) }

// CheckFreeSpace returns an error if the server ran out of disk space within the last fullFor.
func CheckFreeSpace(now time.Time) error {
	if at := fullAt.Load(); at != 0 && now.Sub(time.Unix(0, at)) < fullFor {
		return errFull
	}
	return nil
}
