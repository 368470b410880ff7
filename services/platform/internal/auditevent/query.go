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

// end is later than any event, in microseconds.
var end = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// query is a parsed request. Times are microseconds since 1970-01-01 UTC.
type query struct {
	from, to                 int64
	after                    position
	count                    int
	user, operation, outcome string
	// service selects the log of one service; "" means all.
	service string
}

func (h *Handler) parseQuery(req *platformv1.ReadAuditEventsRequest) (q query, err error) {
	where := req.GetWhere()
	q = query{
		to: end, after: position{at: end}, count: defaultCount,
		user: where.GetUserName(), operation: where.GetOperation(), outcome: where.GetOutcome(), service: where.GetService(),
	}
	if req.Count != nil {
		q.count = int(req.GetCount())
	}
	if strings.ContainsRune(q.user+q.operation+q.outcome, 0) {
		return q, fault.Invalid(fault.CodeInput, "A text in where contains the character U+0000.")
	}
	if q.service != "" && !slices.ContainsFunc(h.logs, func(t auditLog) bool { return t.name == q.service }) {
		return q, fault.Invalid(fault.CodeInput, fmt.Sprintf("There is no service %.40q. Use auth, commons, timekeeping, scheduling, recruiting or platform.", q.service))
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
		if q.after, err = parsePosition(req.GetAfter(), len(h.logs)); err != nil {
			return q, fault.Invalid(fault.CodeInput, "after must be the value of next in an earlier response.").WithCause(err)
		}
	}
	return q, nil
}

// instant parses a time in UTC. The contract has checked the format. An empty text yields fallback.
func instant(text string, fallback int64) (int64, error) {
	if text == "" {
		return fallback, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, "where needs date-times of the form YYYY-MM-DDTHH:MM:SS.").WithCause(err)
	}
	return at.UnixMicro(), nil
}

// request returns the query for one of the logs.
func (q query) request(log int) *auditv1.ReadAuditTrailRequest {
	req := &auditv1.ReadAuditTrailRequest{
		From: q.from, To: q.to, Before: q.after.at, Count: int32(q.count) + 1,
		UserName: q.user, Operation: q.operation, Outcome: q.outcome,
	}
	switch {
	case log > q.after.log:
		req.BeforeId = math.MaxInt64 // all events of that time
	case log == q.after.log:
		req.BeforeId = q.after.id
	}
	return req
}

// position is a position in the order of events: the newest first; at the same time by log, and within a log
// the highest id first. Events that are stored after later ones do not change the order of others, so
// consecutive pages show each event once.
type position struct {
	at  int64
	log int
	id  int64
}

func (p position) text() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d.%d", p.at, p.log, p.id))
}

func parsePosition(text string, logs int) (p position, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, err
	}
	if _, err = fmt.Sscanf(string(decoded), "%d.%d.%d", &p.at, &p.log, &p.id); err != nil {
		return p, err
	}
	if p.at < 0 || p.at > end || p.log < 0 || p.log >= logs || p.id < 0 {
		return p, errors.New("the position is out of range")
	}
	return p, nil
}
