// Package daylock locks days of employees' schedules. Propagations do not change locked days, and
// edits of them are rejected.
package daylock

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of the specification.
const (
	// codeNoStartDate (400): the start date is missing.
	codeNoStartDate = "WFS-103907"
	// codeNoEndDate (400): the end date is missing.
	codeNoEndDate = "WFS-103908"
	// codeEmployeeMissing (400): no employee is given.
	codeEmployeeMissing = "WFS-103407"
	// codeMissing (400): a required value is missing.
	codeMissing = "WFS-111201"
	// codeDateOrder (400): the start date is after the end date.
	codeDateOrder = "WFS-111203"
)

// lock is a row of day_lock. The locks of an employee neither overlap nor touch.
type lock struct {
	id, employeeID int64
	days           civil.Range
}

// parseWindow parses the days to lock or unlock, including the last one. path is their path in the
// request.
func parseWindow(path string, where *schedulingv1.DayLocksWhere) (civil.Range, error) {
	if where == nil {
		return civil.Range{}, fault.Invalid(codeMissing, path+" is missing.")
	}
	if where.GetStartDate() == "" {
		return civil.Range{}, fault.Invalid(codeNoStartDate, path+".startDate is missing.")
	}
	if where.GetEndDate() == "" {
		return civil.Range{}, fault.Invalid(codeNoEndDate, path+".endDate is missing.")
	}
	first, err := parseDate(path+".startDate", where.GetStartDate())
	if err != nil {
		return civil.Range{}, err
	}
	last, err := parseDate(path+".endDate", where.GetEndDate())
	if err != nil {
		return civil.Range{}, err
	}
	if last < first {
		return civil.Range{}, fault.Newf(codeDateOrder, http.StatusBadRequest,
			"%s.endDate %s is before startDate %s.", path, last, first)
	}
	return civil.Through(first, last), nil
}

func parseDate(path, text string) (civil.Date, error) {
	d, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	if d < civil.Beginning {
		return 0, fault.Invalid(fault.CodeDate, path+": there are no days before "+civil.Beginning.String()+".")
	}
	return d.Clamp(), nil
}

// plan is the change of an employee's locks.
type plan struct {
	keep  lock    // has id 0 for a new lock
	wider bool    // whether keep must be written
	drop  []int64 // ids of locks that are merged into keep
}

// join plans the lock of an employee's days. It merges existing locks that overlap or touch the
// days.
func join(employeeID int64, days civil.Range, existing []lock) plan {
	p := plan{keep: lock{employeeID: employeeID, days: days}, wider: true}
	if len(existing) == 0 {
		return p
	}
	slices.SortFunc(existing, func(a, b lock) int { return cmp.Compare(a.id, b.id) })
	p.keep.id = existing[0].id
	for i, l := range existing {
		p.keep.days.From = min(p.keep.days.From, l.days.From)
		p.keep.days.To = max(p.keep.days.To, l.days.To)
		if i > 0 {
			p.drop = append(p.drop, l.id)
		}
	}
	p.wider = p.keep.days != existing[0].days
	return p
}
