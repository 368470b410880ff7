package gateway

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/preference"
)

// bindPreference reads the time that the caller wants to wait for the work that the request starts. Operations
// that start no such work ignore it.
func bindPreference(_ context.Context, _ *response, r *request) *fault.Error {
	if r.route.Policy.Waits {
		r.wait = preference.ParseWait(r.Header.Values("Prefer"))
	}
	return nil
}
