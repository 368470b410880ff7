package timecard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// plan is what a request changes on the timecard of one employee.
type plan struct {
	reader   *Reader
	tenantID int64
	who      person.Person
	days     changedDays

	addedPunches, updatedPunches []*punchRow
	removedPunches, removedEdits []int64
	edits                        []*edit
}

// read checks what is to change, and finds out which days that concerns.
func (p *plan) read(ctx context.Context, do *timekeepingv1.TimecardChanges) error {
	found := map[person.Key]person.Person{{ID: p.who.ID}: p.who, {Number: p.who.Number}: p.who}
	employee := &commonv1.Ref{Id: &p.who.ID}
	for i, in := range append(append([]*timekeepingv1.Punch(nil), do.GetPunches().GetAdded()...), do.GetPunches().GetUpdated()...) {
		if in.GetEmployee() == nil {
			in.Employee = employee
		}
		row, err := p.reader.row(in, found)
		if err != nil {
			return err
		}
		p.days.add(p.who.ID, row.Local(row.At).Date)
		if i < len(do.GetPunches().GetAdded()) {
			p.addedPunches = append(p.addedPunches, row)
			continue
		}
		if row.ID = in.GetId(); row.ID == 0 {
			return timecardfault.Missing(fmt.Sprintf("do.punches.updated[%d].id", i-len(do.GetPunches().GetAdded())))
		}
		p.updatedPunches = append(p.updatedPunches, row)
	}
	for i, in := range do.GetPunches().GetRemoved() {
		if in.GetId() == 0 {
			return timecardfault.Missing(fmt.Sprintf("do.punches.removed[%d].id", i))
		}
		p.removedPunches = append(p.removedPunches, in.GetId())
	}
	if err := p.readEdits(ctx, do.GetPayCodeEdits()); err != nil {
		return err
	}
	return p.readOld(ctx, p.reader.pool, p.days)
}

func (p *plan) readEdits(ctx context.Context, changes *timekeepingv1.PayCodeEditChanges) error {
	var s *paysetup.Setup
	err := pg.InSnapshot(ctx, p.reader.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		s, err = paysetup.Load(ctx, tx, p.tenantID)
		return err
	})
	if err != nil {
		return err
	}
	for n, list := range [][]*timekeepingv1.TimecardPayCodeEdit{changes.GetAdded(), changes.GetUpdated()} {
		for i, in := range list {
			path := fmt.Sprintf("do.payCodeEdits.%s[%d]", []string{"added", "updated"}[n], i)
			if in.GetEmployee() != nil {
				if key, err := keyOf(in.GetEmployee()); err != nil || key != (person.Key{ID: p.who.ID}) && key != (person.Key{Number: p.who.Number}) {
					return timecardfault.Invalid("%s.employee must be the employee of the timecard", path)
				}
			}
			e, err := newEdit(path, in, s)
			if err != nil {
				return err
			}
			if n == 0 {
				e.id = 0
			} else if e.id == 0 {
				return timecardfault.Missing(path + ".id")
			}
			p.edits = append(p.edits, e)
			p.days.add(p.who.ID, e.day)
		}
	}
	for i, in := range changes.GetRemoved() {
		if in.GetId() == 0 {
			return timecardfault.Missing(fmt.Sprintf("do.payCodeEdits.removed[%d].id", i))
		}
		p.removedEdits = append(p.removedEdits, in.GetId())
	}
	return nil
}

const readOld = `
SELECT at, time_zone, NULL::date FROM punch WHERE tenant_id = $1 AND employee_id = $2 AND id = ANY($3)
UNION ALL
SELECT NULL, NULL, apply_date FROM timecard_edit WHERE tenant_id = $1 AND employee_id = $2 AND id = ANY($4)`

// readOld adds the days of what is there already, and goes or moves.
func (p *plan) readOld(ctx context.Context, db pg.Querier, days changedDays) error {
	punches, edits := append([]int64(nil), p.removedPunches...), append([]int64(nil), p.removedEdits...)
	for _, row := range p.updatedPunches {
		punches = append(punches, row.ID)
	}
	for _, e := range p.edits {
		edits = append(edits, e.id)
	}
	rows, err := db.Query(ctx, readOld, p.tenantID, p.who.ID, punches, edits)
	if err != nil {
		return fmt.Errorf("read what changes: %w", err)
	}
	var at *time.Time
	var name *string
	var day *civil.Date
	_, err = pgx.ForEachRow(rows, []any{&at, &name, &day}, func() error {
		if day != nil {
			days.add(p.who.ID, *day)
			return nil
		}
		zone, err := p.reader.zones.Get(*name)
		if err == nil {
			days.add(p.who.ID, zone.At(*at).Date)
		}
		return err
	})
	return err
}

const (
	deletePunch = `DELETE FROM punch WHERE tenant_id = $1 AND employee_id = $2 AND id = $3`
	updatePunch = `
UPDATE punch SET at = $4, time_zone = $5, direction = $6, is_transfer = $7, job = $8, work_rule_id = $9, work_rule = $10, no_deduction = $11, body = $12, updated_at = now()
WHERE tenant_id = $1 AND employee_id = $2 AND id = $3`
)

// errMovedMeanwhile says that what changes was moved to another day while the change was
// prepared: what that day adds up to is not compared.
var errMovedMeanwhile = fault.Conflict(fault.CodeStale, "Somebody moved a punch or a pay code edit to another day meanwhile. Read the timecard, and try again.")

// apply writes the changes.
func (p *plan) apply(ctx context.Context, tx pgx.Tx) error {
	now := changedDays{}
	if err := p.readOld(ctx, tx, now); err != nil {
		return err
	}
	if !p.days.holds(now) {
		return errMovedMeanwhile
	}
	for _, id := range p.removedPunches {
		if err := one(unknownPunch(id))(tx.Exec(ctx, deletePunch, p.tenantID, p.who.ID, id)); err != nil {
			return err
		}
	}
	for _, row := range p.updatedPunches {
		err := one(unknownPunch(row.ID))(tx.Exec(ctx, updatePunch, p.tenantID, p.who.ID, row.ID, time.Unix(row.At, 0), row.Zone.Name(), int16(row.Direction),
			row.Transfer, row.Job, row.workRuleID, row.workRule, row.NoDeduction, row.body))
		var broken *pgconn.PgError
		if errors.As(err, &broken) && broken.ConstraintName == "punch_once" {
			return timecardfault.Invalid("The employee has another punch at %s", row.Local(row.At))
		}
		if err != nil {
			return err
		}
	}
	if err := p.reader.insert(ctx, tx, p.tenantID, p.addedPunches); err != nil {
		return err
	}
	for _, id := range p.removedEdits {
		if err := one(unknownEdit(id))(tx.Exec(ctx, deleteEdit, p.tenantID, p.who.ID, id)); err != nil {
			return err
		}
	}
	for _, e := range p.edits {
		if err := storeEdit(ctx, tx, p.tenantID, p.who.ID, e); err != nil {
			return err
		}
	}
	return nil
}

// one returns an error when a statement changed no row.
func one(none error) func(pgconn.CommandTag, error) error {
	return func(tag pgconn.CommandTag, err error) error {
		if err == nil && tag.RowsAffected() == 0 {
			return none
		}
		return err
	}
}
