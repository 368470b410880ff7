package payrollstaging

import (
	"cmp"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// The causes of corrections.
const (
	// causeSigned: the day changed after its timecard was signed off.
	causeSigned = "AFTER_SIGN_OFF"
	// causeStaged: the day changed after a run had staged it.
	causeStaged = "AFTER_STAGING"
)

// withQuantity returns a total with its quantity replaced.
func (t Total) withQuantity(q amount.Quantity) Total {
	t.Seconds, t.Days, t.Money = q.Seconds, "", ""
	if q.Days != 0 {
		t.Days = q.Days.String()
	}
	if q.Money != 0 {
		t.Money = q.Money.String()
	}
	return t
}

func (t Total) quantity() amount.Quantity {
	return amount.Quantity{Seconds: t.Seconds, Days: amount.Read(t.Days), Money: amount.Read(t.Money)}
}

// sums has the present totals of a key, and the sum that earlier runs staged.
type sums struct {
	// example names the pay code and the job of the key.
	example Total
	// base are the totals of the day on the timecard, without corrections.
	base []Total
	// corrected is the sum of the corrections of the day. applied is the last day of the run with
	// such a correction, or nil.
	corrected amount.Quantity
	applied   *civil.Date
	hasSigned bool
	// isOpen means that a correction applies on an open day, which the run leaves out. The sums do
	// not show whether an earlier run paid the correction.
	isOpen bool
	paid   amount.Quantity
}

// difference returns the rows of an employee: the totals of days that no run has staged yet, and
// the differences of other days from the ledger. The totals cover the days of the run and the other
// days that are compared.
func (r *rules) difference(b *book, totals []Total) []Total {
	days := r.span()
	var rows []Total
	for key, s := range r.sum(b, totals) {
		inRun, covered := days.Contains(key.day), b.covers(key.day, s.example)
		due := s.corrected.Sub(s.paid)
		switch {
		case covered:
			for _, t := range s.base {
				due = due.Add(t.quantity())
			}
		case inRun:
			for _, t := range s.base {
				if slices.Contains(r.kinds, t.Kind) {
					rows = append(rows, t)
				}
			}
		}
		if s.isOpen || due == (amount.Quantity{}) || !slices.Contains(r.kinds, Correction) {
			continue
		}
		row, historical := s.example.withQuantity(due), key.day
		row.Kind, row.Historical, row.Date, row.Cause = Correction, &historical, max(historical, days.From), causeStaged
		if s.applied != nil {
			row.Date = *s.applied
		}
		if s.hasSigned {
			row.Cause = causeSigned
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, compareTotals)
	return rows
}

// sum adds up totals, corrections and staged rows by key, for the pay codes and days of the run.
func (r *rules) sum(b *book, totals []Total) map[paidKey]*sums {
	days := r.span()
	all := map[paidKey]*sums{}
	at := func(day civil.Date, t Total) *sums {
		if !r.admits(b.rename(t)) || r.onlySignedOff && day >= b.Open {
			return nil
		}
		key := newPaidKey(day, t)
		if all[key] == nil {
			all[key] = &sums{example: Total{PayCodeID: t.PayCodeID, PayCode: t.PayCode, Job: t.Job}}
		}
		return all[key]
	}
	for _, t := range totals {
		if t.Kind == Correction {
			continue // Corrections are read by the day that they correct.
		}
		if s := at(t.Date, t); s != nil {
			s.base = append(s.base, t)
		}
	}
	for _, t := range b.corrections {
		s := at(*t.Historical, t)
		switch {
		case s == nil:
		case r.onlySignedOff && t.Date >= b.Open:
			s.isOpen = true
		default:
			s.corrected, s.hasSigned = s.corrected.Add(t.quantity()), true
			if days.Contains(t.Date) {
				s.applied = &t.Date
			}
		}
	}
	for key, q := range b.paid {
		if s := at(key.day, Total{PayCodeID: key.payCodeID, PayCode: b.names[key], Job: key.job}); s != nil {
			s.paid = q
		}
	}
	return all
}

func compareTotals(a, b Total) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.PayCode, b.PayCode), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(dateOrZero(a.Historical), dateOrZero(b.Historical)))
}
