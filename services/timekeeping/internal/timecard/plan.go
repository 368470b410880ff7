package timecard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paycodeedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// plan holds the changes that a request makes to the timecard of one employee.
type plan struct {
	pool  *pg.Pool
	zones *civil.Zones
	who   person.Person
	days  signoff.ChangedDays
	now   time.Time

	addedPunches, updatedPunches []*punch.Entry
	removedPunches, removedEdits []int64
	edits                        []*paycodeedit.Edit
	// room calculates how much leave days can have. leaveDays is the data of the days with edits of
	// leave; nil without such edits.
	room      *leaveday.Reader
	leaveDays *leaveday.Days
	jobs      *orgjob.Resolver
}

// read validates the changes, and finds the affected days.
func (p *plan) read(ctx context.Context, do *timekeepingv1.TimecardChanges) error {
	found := map[person.Key]person.Person{{ID: p.who.ID}: p.who, {Number: p.who.Number}: p.who}
	employee := &commonv1.Ref{Id: &p.who.ID}
	setup, err := readSetup(ctx, p.pool)
	if err != nil {
		return err
	}
	var errs []error
	read := func(list string, i int, in *timekeepingv1.Punch) *punch.Entry {
		if in.GetEmployee() == nil {
			in.Employee = employee
		}
		who, err := requested.In(found, in.GetEmployee())
		var row *punch.Entry
		if err == nil {
			row, err = newEntry(p.zones, in, who, setup, p.now)
		}
		if err != nil {
			errs = append(errs, fault.MovePaths(err, "", fmt.Sprintf("do.punches.%s[%d].", list, i)))
			return nil
		}
		p.days.Add(p.who.ID, row.Local(row.At).Date)
		return row
	}
	for i, in := range do.GetPunches().GetAdded() {
		p.addedPunches = append(p.addedPunches, read("added", i, in))
	}
	for i, in := range do.GetPunches().GetUpdated() {
		row := read("updated", i, in)
		if in.GetId() == 0 {
			errs = append(errs, timecardfault.Missing(fmt.Sprintf("do.punches.updated[%d].id", i)))
		}
		if row != nil {
			row.ID = in.GetId()
			p.updatedPunches = append(p.updatedPunches, row)
		}
	}
	for i, in := range do.GetPunches().GetRemoved() {
		if in.GetId() == 0 {
			errs = append(errs, timecardfault.Missing(fmt.Sprintf("do.punches.removed[%d].id", i)))
		}
		p.removedPunches = append(p.removedPunches, in.GetId())
	}
	errs = append(errs, p.readEdits(do.GetPayCodeEdits(), setup))
	if err := fault.Join(errs...); err != nil {
		return err
	}
	if err := p.readJobs(ctx); err != nil {
		return err
	}
	if err := p.readRoom(ctx); err != nil {
		return err
	}
	return p.readOld(ctx, p.pool, p.days)
}

// readJobs finds the jobs of the punches and pay code edits.
func (p *plan) readJobs(ctx context.Context) error {
	punches := slices.Concat(p.addedPunches, p.updatedPunches)
	names := namedJobs(punches)
	for _, e := range p.edits {
		names = append(names, e.NamedJob(p.who.ID))
	}
	jobs, err := p.jobs.Resolve(ctx, names)
	if err != nil {
		return err
	}
	var errs []error
	for _, row := range punches {
		errs = append(errs, row.SetJob(jobs))
	}
	for _, e := range p.edits {
		errs = append(errs, e.SetJob(p.who.ID, jobs))
	}
	return fault.Join(errs...)
}

// readRoom reads the data of the days with pay code edits of leave.
func (p *plan) readRoom(ctx context.Context) error {
	if len(p.edits) == 0 {
		return nil
	}
	days := make([]civil.Date, len(p.edits))
	for i, e := range p.edits {
		days[i] = e.Day
	}
	var err error
	p.leaveDays, err = p.room.Read(ctx, p.who.ID, days)
	return err
}

// checkRoom returns an error if days have no room for their pay code edits of leave.
func (p *plan) checkRoom(ctx context.Context, tx pgx.Tx) error {
	var added []leaveday.Deduction
	var replaced []leaveday.Source
	for _, e := range p.edits {
		if e.ID != 0 {
			replaced = append(replaced, leaveday.Source{Kind: leaveday.TimecardEdit, ID: e.ID})
		}
		if p.leaveDays.AreLeave(e.Body.GetPaycode()) {
			added = append(added, leaveday.OfTimecardEdit(e.ID, e.Day, e.Quantity))
		}
	}
	if len(added) == 0 {
		return nil
	}
	if err := leaveday.Lock(ctx, tx, p.who.ID); err != nil {
		return err
	}
	return p.leaveDays.Check(ctx, tx, added, replaced...)
}

func (p *plan) readEdits(changes *timekeepingv1.PayCodeEditChanges, s *paysetup.Setup) error {
	var errs []error
	for n, list := range [][]*timekeepingv1.TimecardPayCodeEdit{changes.GetAdded(), changes.GetUpdated()} {
		for i, in := range list {
			path := fmt.Sprintf("do.payCodeEdits.%s[%d]", []string{"added", "updated"}[n], i)
			if in.GetEmployee() != nil {
				if key, err := requested.PersonKey(in.GetEmployee()); err != nil || key != (person.Key{ID: p.who.ID}) && key != (person.Key{Number: p.who.Number}) {
					errs = append(errs, timecardfault.InvalidAt(path+".employee", "must be the employee of the timecard"))
				}
			}
			e, err := paycodeedit.Parse(path, in, s)
			if n == 1 && in.GetId() == 0 {
				err = fault.Join(err, timecardfault.Missing(path+".id"))
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if n == 0 {
				e.ID = 0
			}
			p.edits = append(p.edits, e)
			p.days.Add(p.who.ID, e.Day)
		}
	}
	for i, in := range changes.GetRemoved() {
		if in.GetId() == 0 {
			errs = append(errs, timecardfault.Missing(fmt.Sprintf("do.payCodeEdits.removed[%d].id", i)))
		}
		p.removedEdits = append(p.removedEdits, in.GetId())
	}
	return fault.Join(errs...)
}

const readOld = `
SELECT at, time_zone, NULL::date FROM punch WHERE tenant_id = $1 AND employee_id = $2 AND id = ANY($3)
UNION ALL
SELECT NULL, NULL, apply_date FROM timecard_edit WHERE tenant_id = $1 AND employee_id = $2 AND id = ANY($4)`

// readOld adds the days of stored items that the request deletes or moves.
func (p *plan) readOld(ctx context.Context, db pg.Querier, days signoff.ChangedDays) error {
	punches, edits := append([]int64(nil), p.removedPunches...), append([]int64(nil), p.removedEdits...)
	for _, row := range p.updatedPunches {
		punches = append(punches, row.ID)
	}
	for _, e := range p.edits {
		edits = append(edits, e.ID)
	}
	rows, err := db.Query(ctx, readOld, tenant.Of(ctx), p.who.ID, punches, edits)
	if err != nil {
		return fmt.Errorf("read what changes: %w", err)
	}
	var at *time.Time
	var name *string
	var day *civil.Date
	_, err = pgx.ForEachRow(rows, []any{&at, &name, &day}, func() error {
		if day != nil {
			days.Add(p.who.ID, *day)
			return nil
		}
		zone, err := p.zones.Get(*name)
		if err == nil {
			days.Add(p.who.ID, zone.At(*at).Date)
		}
		return err
	})
	return err
}

// errMovedMeanwhile is the error if an item was moved to another day while the change was prepared.
// The totals of that day would not be compared.
var errMovedMeanwhile = fault.Conflict(fault.CodeStale, "Another request has moved a punch or a pay code edit to another day. Read the timecard, and try again.")

// apply stores the changes.
func (p *plan) apply(ctx context.Context, tx pgx.Tx) error {
	now := signoff.ChangedDays{}
	if err := p.readOld(ctx, tx, now); err != nil {
		return err
	}
	if !p.days.Holds(now) {
		return errMovedMeanwhile
	}
	for _, id := range p.removedPunches {
		if err := punch.Delete(ctx, tx, p.who.ID, id); err != nil {
			return err
		}
	}
	for _, e := range p.updatedPunches {
		if err := punch.Update(ctx, tx, e); err != nil {
			return err
		}
	}
	if err := punch.Insert(ctx, tx, p.zones, p.addedPunches); err != nil {
		return err
	}
	for _, id := range p.removedEdits {
		if err := paycodeedit.Delete(ctx, tx, p.who.ID, id); err != nil {
			return err
		}
	}
	if err := p.checkRoom(ctx, tx); err != nil {
		return err
	}
	for _, e := range p.edits {
		if err := paycodeedit.Store(ctx, tx, p.who.ID, e); err != nil {
			return err
		}
	}
	return nil
}
