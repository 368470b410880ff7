// Package denials records in the audit log which callers the edge refused.
package denials

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/fault"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Recorder records denials. The nil Recorder records nothing.
type Recorder struct {
	aggregator *denial.Aggregator
	clock      clock.Clock
}

// New returns a Recorder that sends denials to the platform service, which writes them to the audit log. The edge
// has no database. It returns an error if the metrics of denials are registered already.
func New(platform grpc.ClientConnInterface, clock clock.Clock, log *slog.Logger, metrics prometheus.Registerer) (*Recorder, error) {
	aggregator, err := denial.New(sendTo(platformv1.NewAuditEventServiceClient(platform)), log, metrics)
	if err != nil {
		return nil, err
	}
	return &Recorder{aggregator, clock}, nil
}

// sendTo returns a store that sends denials to the platform service.
func sendTo(client platformv1.AuditEventServiceClient) denial.Store {
	return func(ctx context.Context, list []*denial.Denial) error {
		req := &platformv1.RecordDenialsRequest{}
		for _, r := range list {
			req.Denials = append(req.Denials, &platformv1.Denial{
				UserName: r.User, PersonId: r.PersonID, ClientId: r.Client, Operation: r.Operation, Outcome: r.Outcome,
				RequestId: r.RequestID, FirstAt: r.First.UnixMicro(), LastAt: r.Last.UnixMicro(), Times: r.Times,
			})
		}
		if _, err := client.RecordDenials(ctx, req); err != nil {
			return fmt.Errorf("sending denials to the platform service: %w", err)
		}
		return nil
	}
}

// Note records that a known caller was refused. It ignores an unknown one, whose p is nil. The operation is "" if
// the request matches none.
func (r *Recorder) Note(p *authn.Principal, operation, requestID string, f *fault.Error) {
	if r == nil || p == nil {
		return
	}
	r.aggregator.Add(denial.Kind{
		Tenant: p.Tenant, User: p.Subject, Client: p.Client, Operation: operation, Outcome: f.Code,
	}, p.PersonID, requestID, r.clock.Now())
}

// Gather stores denials in the background until the caller calls end. end stores the remaining ones before it
// returns.
func (r *Recorder) Gather(ctx context.Context) (end func()) {
	if r == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- r.aggregator.Run(ctx) }()
	return func() {
		cancel()
		<-ended
	}
}
