package pgerr

import (
	"errors"
	"sync/atomic"
	"time"
)

// errFull is what readiness says while the server cannot store anything.
var errFull = errors.New("the disk of the PostgreSQL server is full, or cannot be written: make room on it")

// fullFor is how long after the last such error a process is not ready. Nothing but the
// next write shows that there is room again.
const fullFor = 30 * time.Second

// fullAt is when a statement of this process last failed so, in nanoseconds since 1970.
var fullAt atomic.Int64

// Full reports whether err means that the server has no room to store anything, or cannot
// write to its disk.
func Full(err error) bool { return hasState(err, diskFull, ioError) }

// noteFull remembers that the server had no room at a time.
func noteFull(now time.Time) { fullAt.Store(now.UnixNano()) }

// CheckFreeSpace says that the server had no room a moment ago, or nil.
func CheckFreeSpace(now time.Time) error {
	if at := fullAt.Load(); at != 0 && now.Sub(time.Unix(0, at)) < fullFor {
		return errFull
	}
	return nil
}
