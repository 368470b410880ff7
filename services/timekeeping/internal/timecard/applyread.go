package timecard

import (
	"cmp"
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// maxPunchTime is the maximum distance between the two times of a page of punches.
const maxPunchTime = time.Hour

// listed is a person, and the place in the list of the request. The place does not change while persons
// become visible or invisible between two pages.
type listed struct {
	person.Person
	place int
}

// ApplyReadPunches returns a page of employees with their punches between two times.
func (h *Punches) ApplyReadPunches(ctx context.Context, req *timekeepingv1.ApplyReadPunchesRequest) (*timekeepingv1.PunchPage, error) {
	byCursor, err := cursor.Read[int](req, "index")
	if err != nil {
		return nil, err
	}
	first, last, err := punchTimes(req.GetWhere().GetDateRange())
	if err != nil {
		return nil, err
	}
	keys, err := requested.Keys("where.employees", req.GetWhere().GetEmployees())
	if err != nil {
		return nil, err
	}
	found, err := h.persons.Find(rowvisibility.OnDays(ctx, civil.Through(first.Date, last.Date)), keys)
	if err != nil {
		return nil, err
	}
	var known []listed
	for i, key := range keys {
		if who, ok := found[key]; ok {
			known = append(known, listed{who, i})
		}
	}
	count := int(req.GetCount())
	out := &timekeepingv1.PunchPage{Metadata: &timekeepingv1.PunchPageMetadata{
		Count: req.Count, TotalPages: proto.Int64(int64((len(known) + count - 1) / count)),
		FailedEmployeeCount: proto.Int64(int64(len(keys) - len(known))), RequestTag: req.GetOptions().GetRequestTag(),
	}}
	var page []listed
	if byCursor != nil {
		page, out.Metadata.Next = cursor.Pick(byCursor, known, count, func(l listed) int { return l.place }, cmp.Compare[int])
	} else {
		out.Metadata.Index = proto.Int64(min(req.GetIndex(), math.MaxInt32))
		// Pages after the last one are empty.
		from := int(min(req.GetIndex(), int64(len(known)))) * count
		from = min(from, len(known))
		page = known[from:min(from+count, len(known))]
	}
	persons := make([]person.Person, len(page))
	for i, l := range page {
		persons[i] = l.Person
	}
	out.Data, err = punch.Between(ctx, h.pool, &h.zones, persons, first, last)
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
