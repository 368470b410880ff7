package timecard

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// What a page of punches may be.
const (
	maxPunchTime = time.Hour
	maxPage      = 25
)

const readBetween = `
SELECT q.n, p.id, p.at, p.time_zone, p.direction, p.no_deduction, p.body, p.created_at, p.updated_at
FROM unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[]) WITH ORDINALITY AS q (employee_id, first, last, n)
JOIN punch p ON p.tenant_id = $1 AND p.employee_id = q.employee_id AND p.at BETWEEN q.first AND q.last
ORDER BY q.n, p.at`

// ApplyReadPunches returns a page of employees with the punches that they made between
// two times.
func (h *Punches) ApplyReadPunches(ctx context.Context, req *timekeepingv1.ApplyReadPunchesRequest) (*timekeepingv1.PunchPage, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	first, last, err := punchTimes(req.GetWhere().GetDateRange())
	if err != nil {
		return nil, err
	}
	if req.Count == nil || req.GetCount() < 1 || req.GetCount() > maxPage {
		return nil, fault.Invalid(timecardfault.CodePunchPage, fmt.Sprintf("count must be from 1 to %d.", maxPage))
	}
	if req.GetIndex() < 0 {
		return nil, timecardfault.Invalid("index must not be less than 0")
	}
	keys, err := keysOf("where.employees", req.GetWhere().GetEmployees())
	if err != nil {
		return nil, err
	}
	found, err := h.persons.Find(ctx, tenantID, keys)
	if err != nil {
		return nil, err
	}
	var known []person.Person
	failed := 0
	for _, key := range keys {
		if who, ok := found[key]; ok {
			known = append(known, who)
		} else {
			failed++
		}
	}
	count := int(req.GetCount())
	// What is beyond the last page is empty.
	from := int(min(req.GetIndex(), int64(len(known)))) * count
	from = min(from, len(known))
	page := known[from:min(from+count, len(known))]
	out := &timekeepingv1.PunchPage{Metadata: &timekeepingv1.PunchPageMetadata{
		Count: req.Count, Index: proto.Int64(req.GetIndex()), TotalPages: proto.Int64(int64((len(known) + count - 1) / count)),
		FailedEmployeeCount: proto.Int64(int64(failed)), RequestTag: req.GetOptions().GetRequestTag(),
	}}
	out.Data, err = h.between(ctx, tenantID, page, first, last)
	var punches int64
	for _, e := range out.GetData() {
		punches += int64(len(e.GetPunches()))
	}
	out.Metadata.PunchesOnCurrentPage = &punches
	return out, err
}

func punchTimes(r *timekeepingv1.PunchTimes) (first, last civil.DateTime, err error) {
	for _, t := range []struct {
		name, text string
		to         *civil.DateTime
	}{{"startDateTime", r.GetStartDateTime(), &first}, {"endDateTime", r.GetEndDateTime(), &last}} {
		if t.text == "" {
			return first, last, timecardfault.Missing("where.dateRange." + t.name)
		}
		if *t.to, err = civil.ParseDateTime(t.text); err != nil {
			return first, last, fault.Invalid(fault.CodeDate, "where.dateRange."+t.name+": "+err.Error()+".")
		}
	}
	apart := time.Duration(int64(last.Date)-int64(first.Date))*24*time.Hour + time.Duration(last.Seconds-first.Seconds)*time.Second
	if apart < 0 || apart > maxPunchTime {
		return first, last, fault.Invalid(timecardfault.CodePunchTimes, "where.dateRange.endDateTime must be from 0 to 60 minutes after startDateTime.")
	}
	return first, last, nil
}

// keysOf returns whom a list names, at a place of the request, each once.
func keysOf(path string, list *commonv1.RefList) ([]person.Key, error) {
	refs := append([]*commonv1.Ref(nil), list.GetRefs()...)
	for _, id := range list.GetIds() {
		refs = append(refs, &commonv1.Ref{Id: &id})
	}
	for _, number := range list.GetQualifiers() {
		refs = append(refs, &commonv1.Ref{Qualifier: &number})
	}
	if len(refs) == 0 {
		return nil, timecardfault.Missing(path)
	}
	seen := make(map[person.Key]bool, len(refs))
	var keys []person.Key
	for _, ref := range refs {
		key, err := keyOf(ref)
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			seen[key], keys = true, append(keys, key)
		}
	}
	return keys, nil
}

// between reads the punches of employees between two times where each of them is.
func (h *Punches) between(ctx context.Context, tenantID int64, list []person.Person, first, last civil.DateTime) ([]*timekeepingv1.EmployeePunches, error) {
	ids, from, to := make([]int64, len(list)), make([]time.Time, len(list)), make([]time.Time, len(list))
	out := make([]*timekeepingv1.EmployeePunches, len(list))
	for i, who := range list {
		zone, err := h.reader.zones.Get(who.TimeZone)
		if err != nil {
			return nil, err
		}
		ids[i], from[i], to[i] = who.ID, zone.Resolve(first), zone.Resolve(last)
		out[i] = &timekeepingv1.EmployeePunches{Employee: &commonv1.Ref{Id: &ids[i], Qualifier: &list[i].Number}}
	}
	rows, err := h.reader.pool.Query(ctx, readBetween, tenantID, ids, from, to)
	if err != nil {
		return nil, fmt.Errorf("read punches: %w", err)
	}
	for rows.Next() {
		var n int64
		var p punch
		var at time.Time
		var zone string
		if err := rows.Scan(&n, &p.ID, &at, &zone, (*int8)(&p.Direction), &p.NoDeduction, &p.body, &p.entered, &p.updatedAt); err != nil {
			rows.Close()
			return nil, fmt.Errorf("read punches: %w", err)
		}
		p.At = at.Unix()
		if p.Zone, err = h.reader.zones.Get(zone); err != nil {
			rows.Close()
			return nil, err
		}
		out[n-1].Punches = append(out[n-1].Punches, p.toProto(out[n-1].GetEmployee()))
	}
	return out, rows.Err()
}
