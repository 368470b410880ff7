// Package asof finds the past instants that requests name, so that the response to a question about the past is
// always the same.
package asof

import (
	"context"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

const (
	// codeUnsettled (400): changes before asOfDateTime may still be committed. Send the request again.
	codeUnsettled = "WRL-00450"
	// codeFuture (400): asOfDateTime is later than now. Send an instant of the past.
	codeFuture = "WRL-00452"
)

// retryUnsettled is the time after which open changes are usually committed.
const retryUnsettled = time.Second

// Instants finds past instants. It is safe for concurrent use.
type Instants struct {
	reader *reading.Reader
	keep   time.Duration
}

// New returns the instants of a history that is kept for a time; a negative one means forever.
func New(reader *reading.Reader, keep time.Duration) *Instants { return &Instants{reader, keep} }

// Find returns the instant up to which a read as of the given time includes changes. The instant is later than the
// given time if the clock of the database once ran ahead. text is the time in the request, in UTC. Find returns a
// fault with the status 400 if text is not a date-time, is in the future, is older than the history, or if a change
// before it may still be committed.
func (i *Instants) Find(ctx context.Context, path, text string) (time.Time, error) {
	given, err := request.ParseInstant(path, text)
	if err != nil {
		return given, err
	}
	found, err := i.reader.Settle(ctx, given)
	switch {
	case err != nil:
		return given, err
	case given.After(found.Now):
		return given, fault.Newf(codeFuture, http.StatusBadRequest, "%s %s is later than now. Send an instant of the past.",
			path, request.FormatInstant(given)).WithMembers(path)
	}
	if err := request.CheckKept(path, given, found.Now, i.keep); err != nil {
		return given, err
	}
	if !found.Settled {
		return given, fault.Newf(codeUnsettled, http.StatusBadRequest, "Changes before %s %s are still being committed. Send the request again in a second.",
			path, request.FormatInstant(given)).WithMembers(path).WithRetryAfter(retryUnsettled)
	}
	return found.At, rpc.SetMemento(ctx, given)
}
