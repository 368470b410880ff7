package model

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// remembered is the content of the window at an instant.
type remembered struct {
	at string
	seen
}

// maxRemembered limits the instants that are remembered, so that old ones are asked for as well.
const maxRemembered = 200

// remember remembers the content of the window as of now, while no change is open.
func (w *fixture) remember(got seen) {
	w.past = append(w.past, remembered{time.Now().UTC().Format("2006-01-02T15:04:05.000000"), got})
	if len(w.past) > maxRemembered {
		w.past = slices.Delete(w.past, 0, len(w.past)-maxRemembered)
	}
}

// checkPast requires that the window as of a remembered instant is as it was shown then.
func (w *fixture) checkPast() {
	w.t.Helper()
	if len(w.past) == 0 {
		return
	}
	then := w.past[w.random.IntN(len(w.past))]
	var got seen
	for deadline := time.Now().Add(waitTimeout); ; {
		var err error
		got, err = w.read(then.at)
		// The instant may not be settled yet, and a service may be starting.
		if retry := status(err) == http.StatusServiceUnavailable || isUnsettled(err); !retry || time.Now().After(deadline) {
			require.NoError(w.t, err)
			break
		}
		time.Sleep(betweenReads) // Reads without a pause use up the rate of their class.
	}
	w.counts["past reads"]++
	byID := func(a, b shown) int { return cmp.Compare(a.id, b.id) }
	require.Equal(w.t, slices.SortedFunc(slices.Values(then.entries), byID), slices.SortedFunc(slices.Values(got.entries), byID), "as of %s", then.at)
	require.ElementsMatch(w.t, then.locks, got.locks, "as of %s", then.at)
	require.Equal(w.t, then.leave, got.leave, "as of %s", then.at)
}

// isUnsettled reports whether an error says that changes before an instant are still being committed.
func isUnsettled(err error) bool {
	var refused *scenario.Refused
	return errors.As(err, &refused) && bytes.Contains(refused.Body, []byte("WRL-00450"))
}
