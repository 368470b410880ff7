// Package propagation names what follows in the schedules from a change of this service.
package propagation

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// list is where callers find the propagations that a request has started. They begin
// when scheduling hears of the change, so the list is empty for a moment.
const list = "/v1/scheduling/propagations?request_id="

// Name names in the response, as Content-Location, the propagations that the request of
// ctx has started.
func Name(ctx context.Context) error {
	return rpc.SetContentLocation(ctx, list+obs.RequestFrom(ctx).ID)
}
