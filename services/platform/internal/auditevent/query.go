package auditevent

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

const defaultCount = 100

// end is later than every event, in microseconds.
var end = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// query is what a request asks for. Times are microseconds since 1970-01-01 UTC.
type query struct {
	from, to                 int64
	after                    position
	count                    int
	user, operation, outcome string
	// service is whose trail is asked for; "" for all.
	service string
}

func (h *Handler) queryOf(req *platformv1.ReadAuditEventsRequest) (q query, err error) {
	where := req.GetWhere()
	q = query{
		to: end, after: position{at: end}, count: defaultCount,
		user: where.GetUserName(), operation: where.GetOperation(), outcome: where.GetOutcome(), service: where.GetService(),
	}
	if req.Count != nil {
		q.count = int(req.GetCount())
	}
	if strings.ContainsRune(q.user+q.operation+q.outcome, 0) {
		return q, fault.Invalid(fault.CodeInput, "A text in where holds a character that no text has.")
	}
	if q.service != "" && !slices.ContainsFunc(h.trails, func(t trail) bool { return t.name == q.service }) {
		return q, fault.Invalid(fault.CodeInput, fmt.Sprintf("There is no service %.40q. Use auth, commons, timekeeping, scheduling or platform.", q.service))
	}
	if q.from, err = instant(where.GetStartDateTime(), 0); err != nil {
		return q, err
	}
	if q.to, err = instant(where.GetEndDateTime(), end); err != nil {
		return q, err
	}
	if q.from >= q.to {
		return q, fault.Invalid(fault.CodeInput, "where.endDateTime must be after where.startDateTime.")
	}
	if req.GetAfter() != "" {
		if q.after, err = positionOf(req.GetAfter(), len(h.trails)); err != nil {
			return q, fault.Invalid(fault.CodeInput, "after must be the next of a response before.").WithCause(err)
		}
	}
	return q, nil
}

// instant reads a time in UTC, whose form the contract has checked; otherwise is
// for none.
func instant(text string, otherwise int64) (int64, error) {
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, "where needs date-times of the form YYYY-MM-DDTHH:MM:SS.").WithCause(err)
	}
	return at.UnixMicro(), nil
}

// of is the query as one of the trails is asked.
func (q query) of(trail int) *auditv1.ReadAuditTrailRequest {
	req := &auditv1.ReadAuditTrailRequest{
		From: q.from, To: q.to, Before: q.after.at, Count: int32(q.count) + 1,
		UserName: q.user, Operation: q.operation, Outcome: q.outcome,
	}
	switch {
	case trail > q.after.trail:
		req.BeforeId = math.MaxInt64 // All of that moment.
	case trail == q.after.trail:
		req.BeforeId = q.after.id
	}
	return req
}

// position is a place in the order of events: the newest first; of those of one
// moment by trail, and of one trail the highest id first. Events that are stored
// later than what they are about never change the order of others, so pages that
// follow each other show each event once.
type position struct {
	at    int64
	trail int
	id    int64
}

func (p position) text() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d.%d", p.at, p.trail, p.id))
}

func positionOf(text string, trails int) (p position, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, err
	}
	if _, err = fmt.Sscanf(string(decoded), "%d.%d.%d", &p.at, &p.trail, &p.id); err != nil {
		return p, err
	}
	if p.at < 0 || p.at > end || p.trail < 0 || p.trail >= trails || p.id < 0 {
		return p, errors.New("no event is there")
	}
	return p, nil
}
