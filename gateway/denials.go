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

// recordDenials returns a store that sends denials of the edge to the platform service, which writes them to
// the audit log. The edge has no database.
func recordDenials(platform grpc.ClientConnInterface) denial.Store {
	client := platformv1.NewAuditEventServiceClient(platform)
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

// denials records in the audit log which callers the edge refused.
type denials struct {
	*denial.Aggregator // nil records nothing
	clock              clock.Clock
}

// note records that a known caller was refused.
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

// gather stores denials in the background until the caller calls end. end stores the remaining ones before it
// returns.
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
