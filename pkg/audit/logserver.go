package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
)

// LogServer serves AuditTrailService: it returns the audit events of one service to the service that
// merges the audit logs of all services.
type LogServer struct {
	auditv1.UnsafeAuditTrailServiceServer
	pool *pg.Pool
}

var _ auditv1.AuditTrailServiceServer = (*LogServer)(nil)

// NewLogServer returns a LogServer.
func NewLogServer(pool *pg.Pool) *LogServer { return &LogServer{pool: pool} }

// The time bounds are part of the key too, so that a page without other filters costs only its own
// rows.
const readLog = `SELECT id, occurred_at, user_name, client_id, service, operation, objects, request_id, outcome, times, last_at, on_behalf_of
	FROM audit_event
	WHERE tenant_id = $1 AND occurred_at >= $2 AND occurred_at < $3 AND (occurred_at, id) < ($4, $5)
	  AND ($6 = '' OR lower(user_name) = lower($6)) AND ($7 IN ('', operation, split_part(operation, '/', 2))) AND ($8 = '' OR outcome = $8)
	ORDER BY occurred_at DESC, id DESC LIMIT $9`

// ReadAuditTrail returns events of the tenant of the context, the newest first.
func (s *LogServer) ReadAuditTrail(ctx context.Context, req *auditv1.ReadAuditTrailRequest) (*auditv1.ReadAuditTrailResponse, error) {
	id := tenant.Of(ctx)
	rows, err := s.pool.Query(ctx, readLog, id,
		time.UnixMicro(req.GetFrom()), time.UnixMicro(req.GetTo()), time.UnixMicro(req.GetBefore()), req.GetBeforeId(),
		req.GetUserName(), req.GetOperation(), req.GetOutcome(), req.GetCount())
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*auditv1.AuditTrailEvent, error) {
		e := &auditv1.AuditTrailEvent{}
		var at time.Time
		var last *time.Time
		err := row.Scan(&e.Id, &at, &e.UserName, &e.ClientId, &e.CalledBy, &e.Operation, &e.Objects, &e.RequestId, &e.Outcome, &e.Times, &last, &e.OnBehalfOf)
		if e.At = at.UnixMicro(); last == nil {
			last = &at
		}
		e.LastAt = last.UnixMicro()
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return &auditv1.ReadAuditTrailResponse{Events: events}, nil
}
