// Package limit returns all limits that apply to a caller. It reads the limits of operations from the
// contracts, which are also the source of their enforcement.
package limit

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	rates "github.com/rotaloom/rotaloom/services/platform/internal/ratelimit"
)

// headerBytes is the edge's limit for headers, which is not configurable.
const headerBytes = 32 << 10

// Handler serves LimitService.
type Handler struct {
	platformv1.UnsafeLimitServiceServer

	rates      *rates.Store
	operations []*platformv1.OperationLimit
	classes    map[optionsv1.Throttle][]string
	request    *platformv1.RequestLimits
	history    *history
}

var _ platformv1.LimitServiceServer = (*Handler)(nil)

// Deps are the dependencies of a Handler.
type Deps struct {
	Rates *rates.Store
	// Schedules knows the retention of the history of schedules.
	Schedules schedulingv1.ScheduleChangeServiceClient
	// BodyBytes is the largest body that the edge accepts.
	BodyBytes int64
	Clock     clock.Clock
	Log       *slog.Logger
}

// New returns a Handler for the operations of the contracts in the program.
func New(deps Deps) (*Handler, error) {
	operations, err := policy.NewTable(nil).Operations()
	if err != nil {
		return nil, fmt.Errorf("reading the limits of the contracts: %w", err)
	}
	h := &Handler{
		rates: deps.Rates, classes: map[optionsv1.Throttle][]string{},
		request: &platformv1.RequestLimits{BodyBytes: deps.BodyBytes, HeaderBytes: headerBytes},
		history: &history{schedules: deps.Schedules, clock: deps.Clock, log: deps.Log},
	}
	for _, o := range operations {
		h.classes[o.Throttle] = append(h.classes[o.Throttle], o.Route)
		for _, b := range o.Limits {
			h.operations = append(h.operations, &platformv1.OperationLimit{
				Operation: o.Route, Counted: b.Counted, Property: b.Property,
				Maximum: b.Max, ErrorCode: b.Code, Status: int32(b.Status),
			})
		}
	}
	return h, nil
}

// GetLimits returns all limits that apply to the caller.
func (h *Handler) GetLimits(ctx context.Context, _ *platformv1.GetLimitsRequest) (*platformv1.Limits, error) {
	var client string
	if p, ok := authn.From(ctx); ok {
		client = p.Client
	}
	response := &platformv1.Limits{Operations: h.operations, Request: h.request, HistoryFrom: h.history.findStart(ctx)}
	counted := map[optionsv1.Throttle]ratelimit.Policy{}
	for _, class := range ratelimit.Classes() {
		p, origin, err := h.rates.Rate(ctx, class, client)
		if err != nil {
			return nil, err
		}
		rate := &platformv1.RateAllowance{
			ThrottleClass: ratelimit.Name(class), Rate: p.Rate, Burst: p.Burst,
			Origin: string(origin), CountedBy: "CLIENT", Operations: h.classes[class],
		}
		if class == optionsv1.Throttle_THROTTLE_LOGIN {
			rate.CountedBy = "ADDRESS"
		} else {
			counted[class] = p
		}
		response.Rates = append(response.Rates, rate)
	}
	left, err := h.rates.Remaining(ctx, client, counted)
	if err != nil {
		return nil, err
	}
	for i, class := range ratelimit.Classes() {
		if remaining, ok := left[class]; ok {
			response.Rates[i].Remaining = proto.Int64(remaining)
		}
	}
	return response, nil
}
