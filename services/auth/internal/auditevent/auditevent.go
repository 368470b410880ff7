// Package auditevent shows the audit trail of the auth service: log-ins, refusals,
// revocations, and the writes of this service.
package auditevent

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const (
	defaultCount = 100
	maxCount     = 1000
	// wireTime is how events say when they were; UTC.
	wireTime = "2006-01-02T15:04:05.000000"
)

// Handler serves AuditEventService.
type Handler struct {
	authv1.UnsafeAuditEventServiceServer
	pool *pgxpool.Pool
}

// New makes a Handler.
func New(pool *pgxpool.Pool) *Handler { return &Handler{pool: pool} }

// ReadAuditEvents answers the caller's tenant's events, the newest first.
func (h *Handler) ReadAuditEvents(ctx context.Context, req *authv1.ReadAuditEventsRequest) (*authv1.ReadAuditEventsResponse, error) {
	caller, ok := authn.From(ctx)
	if !ok {
		return nil, authn.Missing()
	}
	q, err := queryOf(req)
	if err != nil {
		return nil, err
	}
	rows, err := h.pool.Query(ctx, `SELECT id, occurred_at, user_name, client_id, service, operation, objects, request_id, outcome
		FROM audit_event
		WHERE tenant_id = $1 AND occurred_at >= $2 AND occurred_at < $3 AND (occurred_at, id) < ($4, $5)
		  AND ($6 = '' OR lower(user_name) = lower($6)) AND ($7 = '' OR operation = $7) AND ($8 = '' OR outcome = $8)
		ORDER BY occurred_at DESC, id DESC LIMIT $9`,
		caller.Tenant, q.from, q.to, q.before.at, q.before.id,
		req.GetWhere().GetUserName(), req.GetWhere().GetOperation(), req.GetWhere().GetOutcome(), q.count)
	if err != nil {
		return nil, fmt.Errorf("read audit events: %w", err)
	}
	out := &authv1.ReadAuditEventsResponse{}
	var last position
	out.Events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*authv1.AuditEvent, error) {
		e := &authv1.AuditEvent{}
		err := row.Scan(&last.id, &last.at, &e.UserName, &e.ClientId, &e.Service, &e.Operation, &e.Objects, &e.RequestId, &e.Outcome)
		e.DateTime = last.at.UTC().Format(wireTime)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read audit events: %w", err)
	}
	if len(out.Events) == q.count {
		out.Next = last.text()
	}
	return out, nil
}

// query is what a request asks for.
type query struct {
	from, to time.Time
	before   position
	count    int
}

func queryOf(req *authv1.ReadAuditEventsRequest) (q query, err error) {
	end := time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
	q = query{to: end, before: position{at: end, id: math.MaxInt64}, count: defaultCount}
	if req.GetCount() != 0 {
		q.count = int(req.GetCount())
	}
	if q.count < 1 || q.count > maxCount {
		return q, fault.Invalid(fault.CodeInput, fmt.Sprintf("count must be 1 to %d.", maxCount))
	}
	for _, text := range []string{req.GetWhere().GetUserName(), req.GetWhere().GetOperation(), req.GetWhere().GetOutcome()} {
		if strings.ContainsRune(text, 0) {
			return q, fault.Invalid(fault.CodeInput, "A text in where holds a character that no text has.")
		}
	}
	// The contract checks the form of both.
	for text, into := range map[string]*time.Time{req.GetWhere().GetStartDateTime(): &q.from, req.GetWhere().GetEndDateTime(): &q.to} {
		if text != "" {
			if *into, err = time.Parse("2006-01-02T15:04:05", text); err != nil {
				return q, fault.Invalid(fault.CodeDate, "where needs date-times of the form YYYY-MM-DDTHH:MM:SS.").WithCause(err)
			}
		}
	}
	if req.GetAfter() != "" {
		if q.before, err = positionOf(req.GetAfter()); err != nil {
			return q, fault.Invalid(fault.CodeInput, "after must be the next of an answer before.").WithCause(err)
		}
	}
	return q, nil
}

// position is a place in the order of events.
type position struct {
	at time.Time
	id int64
}

func (p position) text() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.at.UnixMicro(), 10) + "." + strconv.FormatInt(p.id, 10)))
}

func positionOf(text string) (p position, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, err
	}
	at, id, _ := strings.Cut(string(decoded), ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return p, err
	}
	p.at = time.UnixMicro(micros)
	if p.at.Year() < 1970 || p.at.Year() > 3000 {
		return p, fmt.Errorf("a position in the year %d", p.at.Year())
	}
	p.id, err = strconv.ParseInt(id, 10, 64)
	return p, err
}
