package person

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// pageLimit limits the persons of a page.
var pageLimit = policy.FindLimit[*commonsv1.ApplyReadPersonsRequest]("persons of a page")

// notApplicable is the status of persons without a status.
const notApplicable = "Not Applicable"

// Error codes of apply_read.
const (
	// CodeEmploymentStatus (400): the employment status does not exist.
	CodeEmploymentStatus = "WCO-101724"
	// CodeAccountStatus (400): the status of user accounts does not exist.
	CodeAccountStatus = "WCO-101725"
	// CodeIndex (400): the index is not a valid page.
	CodeIndex = "WCO-101726"
	// CodeCount (400): the count is not a valid number of persons.
	CodeCount = "WCO-101727"
	// CodeDateRange (400): the start of a range of dates is after its end.
	CodeDateRange = "WCO-101228"
)

// pageQuery holds the filters and the page of an apply_read request.
type pageQuery struct {
	employment, account string
	day                 civil.Date
	withoutAoid         bool
	changedFrom         *time.Time
	changedTo           *time.Time
	limit, offset       int64
	idsOnly             bool
	// cursor is the page by cursor, or nil for a page by index.
	cursor *cursor.Query[int64]
}

// ApplyReadPersons returns a page of the persons whom the caller may see, ordered by id.
func (h *Handler) ApplyReadPersons(ctx context.Context, req *commonsv1.ApplyReadPersonsRequest) (*commonsv1.PersonPage, error) {
	q, err := h.pageQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	visible, err := h.reader.Visible(ctx)
	if err != nil {
		return nil, err
	}
	// NULL stands for all persons, and an empty array for none.
	var seen []int64
	if !visible.All() {
		seen = append([]int64{}, visible.IDs()...)
	}
	records, err := h.page(ctx, q, seen)
	if err != nil {
		return nil, err
	}
	next := ""
	if q.cursor != nil {
		records, next = cursor.Cut(q.cursor, records, int(q.limit), (*commonsv1.PersonRecord).GetPersonId)
	}
	return &commonsv1.PersonPage{
		TotalElements: proto.String(strconv.Itoa(len(records))), Records: &commonsv1.PersonRecordList{Records: records}, Next: next,
	}, nil
}

func (h *Handler) pageQuery(ctx context.Context, req *commonsv1.ApplyReadPersonsRequest) (pageQuery, error) {
	where := req.GetWhere()
	q := pageQuery{day: h.reader.Today(ctx), limit: int64(pageLimit.Max()), idsOnly: where.GetReturnPersonIdOnly()}
	var err error
	if q.employment, err = pageStatus("employmentStatus", where.GetEmploymentStatus(), CodeEmploymentStatus); err != nil {
		return q, err
	}
	if q.account, err = pageStatus("userAccountStatus", where.GetUserAccountStatus(), CodeAccountStatus); err != nil {
		return q, err
	}
	if text := where.GetSnapshotDate(); text != "" {
		if q.day, err = civil.ParseDate(text); err != nil {
			return q, fault.Invalid(fault.CodeDate, "where.snapshotDate: "+err.Error())
		}
		q.day = q.day.Clamp()
	}
	switch kind := where.GetMissingExternalIdType(); {
	case strings.EqualFold(kind, "aoid"):
		q.withoutAoid = true
	case kind != "":
		return q, fault.Invalid(rules.CodeBadValue, fmt.Sprintf("where.missingExternalIdType: %.40q is not aoid.", kind))
	}
	if q.changedFrom, q.changedTo, err = changedIn(where.GetDateRange()); err != nil {
		return q, err
	}
	return q, q.setPage(req)
}

// setPage reads the requested page.
func (q *pageQuery) setPage(req *commonsv1.ApplyReadPersonsRequest) (err error) {
	if q.cursor, err = cursor.Read[int64](req, "index"); err != nil {
		return err
	}
	if req.Count != nil {
		q.limit = req.GetCount()
	}
	switch {
	case q.limit > int64(pageLimit.Max()):
		return pageLimit.Fault(int(q.limit))
	case q.limit <= 0:
		return fault.Invalid(CodeCount, fmt.Sprintf("count %d is not a number of persons from 1 to %d.", q.limit, pageLimit.Max()))
	}
	q.offset = req.GetIndex() * q.limit
	return nil
}

func pageStatus(name, given, code string) (string, error) {
	if given == "" {
		return "", nil
	}
	known := append([]string{notApplicable}, record.Statuses...)
	for _, status := range known {
		if strings.EqualFold(given, status) {
			return status, nil
		}
	}
	return "", fault.Invalid(code, suggest.NotOneOf("where."+name, given, known...)).WithMembers("where." + name)
}

func changedIn(r *commonsv1.DateTimeRange) (from, to *time.Time, err error) {
	read := func(name, text string) (*time.Time, error) {
		if text == "" {
			return nil, nil
		}
		at, err := time.Parse("2006-01-02T15:04:05", text)
		if err != nil {
			return nil, fault.Invalid(fault.CodeDate, fmt.Sprintf("where.dateRange.%s: %.40q is not a date with a time.", name, text))
		}
		return &at, nil
	}
	if from, err = read("startDateTime", r.GetStartDateTime()); err != nil {
		return nil, nil, err
	}
	if to, err = read("endDateTime", r.GetEndDateTime()); err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil && from.After(*to) {
		return nil, nil, fault.Invalid(CodeDateRange, "where.dateRange: startDateTime is after endDateTime.")
	}
	return from, to, nil
}

// readPage first finds the persons of a page, and then looks up the statuses of each in the
// index. OFFSET 0 keeps this order. A join before the page is cut off would read the statuses
// of all persons.
const readPage = `
SELECT p.id, p.person_number, p.first_name, p.last_name, coalesce(e.status, ''), coalesce(u.status, '')
FROM (
    SELECT id, person_number, first_name, last_name FROM person p WHERE tenant_id = $1
    AND ($3 = '' OR $3 = coalesce((SELECT status FROM employment_status
        WHERE tenant_id = $1 AND person_id = p.id AND from_date <= $2 AND to_date > $2), $5))
    AND ($4 = '' OR $4 = coalesce((SELECT status FROM user_account_status
        WHERE tenant_id = $1 AND person_id = p.id AND from_date <= $2 AND to_date > $2), $5))
    AND (NOT $6 OR aoid = '')
    AND ($7::timestamptz IS NULL OR updated_at >= $7) AND ($8::timestamptz IS NULL OR updated_at <= $8)
    AND ($9::bigint[] IS NULL OR id = ANY($9)) AND id > $12
    ORDER BY id LIMIT $10 OFFSET $11
) AS p
LEFT JOIN LATERAL (SELECT status FROM employment_status
    WHERE tenant_id = $1 AND person_id = p.id AND from_date <= $2 AND to_date > $2 OFFSET 0) AS e ON true
LEFT JOIN LATERAL (SELECT status FROM user_account_status
    WHERE tenant_id = $1 AND person_id = p.id AND from_date <= $2 AND to_date > $2 OFFSET 0) AS u ON true
ORDER BY p.id`

func (h *Handler) page(ctx context.Context, q pageQuery, seen []int64) ([]*commonsv1.PersonRecord, error) {
	tenantID, rows, after := tenant.Of(ctx), q.limit, int64(0)
	if q.cursor != nil {
		rows++ // The last row shows whether another page follows.
		if q.cursor.After != nil {
			after = *q.cursor.After
		}
	}
	records, err := pg.Collect(ctx, h.pool, func(row pgx.CollectableRow) (*commonsv1.PersonRecord, error) {
		r := &commonsv1.PersonRecord{}
		err := row.Scan(&r.PersonId, &r.PersonNumber, &r.FirstName, &r.LastName, &r.EmploymentStatus, &r.UserAccountStatus)
		if q.idsOnly {
			r = &commonsv1.PersonRecord{PersonId: r.PersonId}
		}
		return r, err
	}, readPage,
		tenantID, q.day, q.employment, q.account, notApplicable, q.withoutAoid,
		q.changedFrom, q.changedTo, seen, rows, q.offset, after)
	if err != nil {
		return nil, fmt.Errorf("read a page of persons: %w", err)
	}
	return records, nil
}
