// Package auditevent combines the audit logs of all services, and stores the denials of the edge.
package auditevent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Source is a service with an audit log.
type Source struct {
	Name string
	Conn grpc.ClientConnInterface
}

// auditLog reads the events of one service. Its index orders events with the same time.
type auditLog struct {
	name string
	read func(context.Context, *auditv1.ReadAuditTrailRequest) (*auditv1.ReadAuditTrailResponse, error)
}

// Handler serves AuditEventService.
type Handler struct {
	platformv1.UnsafeAuditEventServiceServer
	logs         []auditLog
	storeDenials denial.Store
}

var _ platformv1.AuditEventServiceServer = (*Handler)(nil)

// New returns a Handler that reads the audit logs of the sources and of this service, which is in pool.
func New(pool *pg.Pool, sources []Source) *Handler {
	h := &Handler{storeDenials: audit.RecordDenials(pool)}
	for _, n := range sources {
		client := auditv1.NewAuditTrailServiceClient(n.Conn)
		h.logs = append(h.logs, auditLog{n.Name, func(ctx context.Context, req *auditv1.ReadAuditTrailRequest) (*auditv1.ReadAuditTrailResponse, error) {
			return client.ReadAuditTrail(ctx, req)
		}})
	}
	h.logs = append(h.logs, auditLog{"platform", audit.NewLogServer(pool).ReadAuditTrail})
	return h
}

// entry is an event with its position.
type entry struct {
	position
	event *auditv1.AuditTrailEvent
}

// ReadAuditEvents returns the tenant's events, the newest first. The caller must see all employees, because
// events name users and objects of all groups. It fails if one of the services is unreachable, because an
// incomplete log would suggest that nothing happened.
func (h *Handler) ReadAuditEvents(ctx context.Context, req *platformv1.ReadAuditEventsRequest) (*platformv1.ReadAuditEventsResponse, error) {
	if p, ok := authn.From(ctx); ok && !p.IsService() && rowvisibility.Scope(p.Rows) != rowvisibility.All {
		return nil, fault.Forbidden(fault.CodeNoAccess, "You need to see all employees to read the audit log, because it names persons of all groups.")
	}
	q, err := h.parseQuery(req)
	if err != nil {
		return nil, err
	}
	found, err := h.collect(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &platformv1.ReadAuditEventsResponse{Events: &platformv1.AuditEventList{}}
	if len(found) > q.count {
		found = found[:q.count]
		out.Next = found[q.count-1].text()
	}
	for _, e := range found {
		out.Events.Events = append(out.Events.Events, eventToProto(h.logs[e.log].name, e.event))
	}
	return out, nil
}

// collect reads one event more than requested from each selected log, all at the same time, and returns the
// events in order.
func (h *Handler) collect(ctx context.Context, q query) ([]entry, error) {
	group, ctx := errgroup.WithContext(ctx)
	responses := make([]*auditv1.ReadAuditTrailResponse, len(h.logs))
	for i, t := range h.logs {
		if q.service != "" && q.service != t.name {
			continue
		}
		group.Go(func() (err error) {
			responses[i], err = t.read(ctx, q.request(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read audit logs: %w", err)
	}
	var all []entry
	for i, response := range responses {
		for _, e := range response.GetEvents() {
			all = append(all, entry{position{at: e.GetAt(), log: i, id: e.GetId()}, e})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.log, b.log), cmp.Compare(b.id, a.id))
	})
	return all, nil
}

// wireTime is the format of event times, in UTC.
const wireTime = "2006-01-02T15:04:05.000000"

func eventToProto(service string, e *auditv1.AuditTrailEvent) *platformv1.AuditEvent {
	out := &platformv1.AuditEvent{
		DateTime: moment(e.GetAt()), UserName: e.GetUserName(), ClientId: e.GetClientId(), Service: service, CalledBy: e.GetCalledBy(),
		Operation: e.GetOperation(), Objects: e.GetObjects(), RequestId: e.GetRequestId(), Outcome: e.GetOutcome(),
		OnBehalfOf: e.GetOnBehalfOf(),
	}
	if e.GetTimes() > 1 {
		out.Times, out.LastDateTime = e.GetTimes(), moment(e.GetLastAt())
	}
	return out
}

func moment(micros int64) string { return time.UnixMicro(micros).UTC().Format(wireTime) }

// RecordDenials stores denials of the edge.
func (h *Handler) RecordDenials(ctx context.Context, req *platformv1.RecordDenialsRequest) (*emptypb.Empty, error) {
	id := tenant.Of(ctx)
	denials := make([]*denial.Denial, 0, len(req.GetDenials()))
	for _, r := range req.GetDenials() {
		denials = append(denials, &denial.Denial{
			Kind: denial.Kind{
				Tenant: id, User: r.GetUserName(), Client: r.GetClientId(), Operation: r.GetOperation(), Outcome: r.GetOutcome(),
			},
			PersonID: r.GetPersonId(), RequestID: r.GetRequestId(), Times: r.GetTimes(),
			First: time.UnixMicro(r.GetFirstAt()), Last: time.UnixMicro(r.GetLastAt()),
		})
	}
	return &emptypb.Empty{}, h.storeDenials(ctx, denials)
}
