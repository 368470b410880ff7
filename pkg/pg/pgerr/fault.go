package pgerr

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	messageUnavailable = "The service cannot reach its data at the moment. Try again in a moment."
	messageFull        = "The service cannot store anything at the moment. Try again later."
	messageSlow        = "The request took too long. Try again later, or ask for less."
	messageConflict    = "Other requests changed the same data at the same time. Try again in a moment."

	// unavailableRetry is about the time that a database needs to restart.
	unavailableRetry = 5 * time.Second
	conflictRetry    = time.Second
	// fullRetry is about the time that an operator needs to free disk space.
	fullRetry = 30 * time.Second
)

// Fault returns the fault for an error that the request did not cause: the database is unavailable,
// cancelled the statement, or met too many concurrent changes. It returns nil for all other errors.
func Fault(err error) *fault.Error {
	switch {
	case Full(err):
		noteFull(time.Now())
		return fault.Unavailable(messageFull, fullRetry).WithCause(err)
	case Unavailable(err):
		return fault.Unavailable(messageUnavailable, unavailableRetry).WithCause(err)
	case Conflicted(err):
		return fault.Unavailable(messageConflict, conflictRetry).WithCause(err)
	case TimedOut(err):
		return fault.Unavailable(messageSlow, unavailableRetry).WithCause(err)
	}
	return nil
}
