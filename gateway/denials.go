package gateway

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/fault"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// recordDenials returns how what the edge refuses comes into the audit trail: the
// edge has no database, so the platform service keeps it.
func recordDenials(platform grpc.ClientConnInterface) denial.Store {
	client := platformv1.NewAuditEventServiceClient(platform)
	return func(ctx context.Context, refusals []*denial.Denial) error {
		req := &platformv1.RecordDenialsRequest{}
		for _, r := range refusals {
			req.Denials = append(req.Denials, &platformv1.Denial{
				UserName: r.User, PersonId: r.PersonID, ClientId: r.Client, Operation: r.Operation, Outcome: r.Outcome,
				RequestId: r.RequestID, FirstAt: r.First.UnixMicro(), LastAt: r.Last.UnixMicro(), Times: r.Times,
			})
		}
		if _, err := client.RecordDenials(ctx, req); err != nil {
			return fmt.Errorf("asking the platform service to keep refusals: %w", err)
		}
		return nil
	}
}

// denials keep for the audit trail who was refused.
type denials struct {
	*denial.Aggregator // nil keeps nothing
	clock              clock.Clock
}

// note keeps that somebody known was refused.
func (d denials) note(r *request, p *authn.Principal, f *fault.Error) {
	if p == nil {
		return
	}
	operation := ""
	if r.route != nil {
		operation = r.route.Policy.Name[1:]
	}
	d.Add(denial.Kind{
		Tenant: p.Tenant, User: p.Subject, Client: p.Client, Operation: operation, Outcome: f.Code,
	}, p.PersonID, r.id.ID, d.clock.Now())
}

// gather keeps refusals in the background, until end is called, which
// returns when those are kept that were left.
func (d denials) gather(ctx context.Context) (end func()) {
	if d.Aggregator == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() {
		cancel()
		<-ended
	}
}
