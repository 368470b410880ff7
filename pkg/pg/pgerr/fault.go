package pgerr

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	messageAway = "The service cannot reach its data at the moment. Try again in a moment."
	messageFull = "The service cannot store anything at the moment. Try again later."
	messageSlow = "The request took too long. Try again later, or ask for less."
	messageBusy = "Others changed the same data at the same time. Try again in a moment."

	// awayRetry is about what a database needs to restart.
	awayRetry = 5 * time.Second
	busyRetry = time.Second
	// fullRetry is about what somebody needs to make room.
	fullRetry = 30 * time.Second
)

// Fault returns what a caller learns of an error that says nothing about the
// request but that it came at a bad moment: the database is away, gave the
// statement up, or met too many competitors. It returns nil for all others.
func Fault(err error) *fault.Error {
	switch {
	case Full(err):
		noteFull(time.Now())
		return fault.Unavailable(messageFull, fullRetry).WithCause(err)
	case Unavailable(err):
		return fault.Unavailable(messageAway, awayRetry).WithCause(err)
	case Conflicted(err):
		return fault.Unavailable(messageBusy, busyRetry).WithCause(err)
	case TimedOut(err):
		return fault.Unavailable(messageSlow, awayRetry).WithCause(err)
	}
	return nil
}
