package timecard

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Signoffs serves TimecardSignoffService.
type Signoffs struct {
	timekeepingv1.UnsafeTimecardSignoffServiceServer
	cards *Timecards
}

var _ timekeepingv1.TimecardSignoffServiceServer = (*Signoffs)(nil)

// NewSignoffs returns a Signoffs of the timecards that are served.
func NewSignoffs(cards *Timecards) *Signoffs { return &Signoffs{cards: cards} }

// who finds the employee whose timecard is meant, and the days.
func (h *Signoffs) who(ctx context.Context, ref *commonv1.Ref, period, start, end string) (int64, person.Person, civil.Range, error) {
	days, err := h.cards.daysOf(ctx, "query", frame(period, start, end))
	if err != nil {
		return 0, person.Person{}, days, err
	}
	tenantID, who, err := h.cards.who(ctx, ref)
	return tenantID, who, days, err
}

const (
	readEarliest = `
SELECT least((SELECT min(at) FROM punch WHERE tenant_id = $1 AND employee_id = $2 AND at >= $3),
             (SELECT min(apply_date)::timestamptz FROM timecard_edit WHERE tenant_id = $1 AND employee_id = $2 AND apply_date >= $4))`

	insertSigned = `
INSERT INTO signed_day (tenant_id, employee_id, day, worked, week, body)
SELECT $1, $2, q.day, q.worked, q.week, q.body FROM unnest($3::date[], $4::bigint[], $5::bigint[], $6::bytea[]) AS q (day, worked, week, body)`

	insertSignoff = `
INSERT INTO timecard_signoff (tenant_id, employee_id, through, open_from, signed_by) VALUES ($1, $2, $3, $4, $5)`
)

// SignOffTimecard freezes the days of a timecard through the end of some days.
func (h *Signoffs) SignOffTimecard(ctx context.Context, req *timekeepingv1.SignOffTimecardRequest) (*emptypb.Empty, error) {
	tenantID, who, days, err := h.who(ctx, req.GetEmployee(), req.GetTimeframeId(), req.GetStartDate(), req.GetEndDate())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.cards.reader.signOff(ctx, tenantID, who, days)
}

// ImportTimecardSignoffs signs timecards off, each by itself.
func (h *Signoffs) ImportTimecardSignoffs(ctx context.Context, req *timekeepingv1.ImportTimecardSignoffsRequest) (*timekeepingv1.ImportTimecardSignoffsResponse, error) {
	if len(req.GetSignoffs()) == 0 {
		return nil, timecardfault.Missing("signoffs")
	}
	out := &timekeepingv1.ImportTimecardSignoffsResponse{}
	for _, given := range req.GetSignoffs() {
		made := &timekeepingv1.ImportedTimecardSignoff{Employee: given.GetEmployee()}
		tenantID, who, days, err := h.who(ctx, given.GetEmployee(), given.GetTimeframeId(), given.GetStartDate(), given.GetEndDate())
		if err == nil {
			made.Employee = &commonv1.Ref{Id: &who.ID, Qualifier: &who.Number}
			err = h.cards.reader.signOff(ctx, tenantID, who, days)
		}
		if f := fault.FromError(err); err != nil && f.Status >= http.StatusInternalServerError {
			return nil, err
		} else if err != nil {
			made.TkError = &timekeepingv1.TkError{ErrorCode: f.Code, Message: f.Message}
		} else {
			made.ManagerSignOffThroughDate = (days.To - 1).String()
		}
		out.Signoffs = append(out.Signoffs, made)
	}
	return out, nil
}

// signOff signs the timecard of an employee off through the last of some days.
func (r *Reader) signOff(ctx context.Context, tenantID int64, who person.Person, days civil.Range) error {
	if err := r.over(who, days); err != nil {
		return err
	}
	through := days.To - 1
	before, err := signoffs(ctx, r.pool, tenantID, []int64{who.ID})
	if err != nil {
		return err
	}
	last, signed := before[who.ID]
	if signed && last.through >= through {
		return fault.Invalid(timecardfault.CodeSigned, fmt.Sprintf("The timecard is signed off already, through %s.", last.through))
	}
	open := civil.Range{From: days.From, To: days.To}
	if signed {
		open.From = last.through + 1
	} else if open.From, err = r.earliest(ctx, tenantID, who.ID, days.From); err != nil {
		return err
	}
	if open.Days() > maxRange {
		return timecardfault.Invalid("The days from %s have not been signed off yet. Sign off at most %d days at once", open.From, maxRange)
	}
	k, err := r.known(ctx, who.ID, open)
	if err != nil {
		return err
	}
	by := ""
	if principal, ok := authn.From(ctx); ok {
		by = principal.Subject
	}
	return r.inLock(ctx, tenantID, []int64{who.ID}, func(ctx context.Context, tx pgx.Tx) error {
		now, err := signoffs(ctx, tx, tenantID, []int64{who.ID})
		if err != nil {
			return err
		}
		if !now[who.ID].equal(last) {
			return errSignedMeanwhile
		}
		cards, err := r.readIn(ctx, tx, tenantID, []int64{who.ID}, window{days: open, bodies: true}, k.of)
		if err != nil {
			return err
		}
		if err := cards[0].over(); err != nil {
			return err
		}
		return cards[0].freeze(ctx, tx, tenantID, by)
	})
}

// over refuses days with a shift that goes on: its punch out would belong to the days
// after them, and the shift be worth nothing.
func (c *card) over() error {
	for i := range c.result.Shifts {
		if shift := &c.result.Shifts[i]; shift.Running && shift.Day < c.days.To {
			return fault.Invalid(timecardfault.CodeNotOver, fmt.Sprintf("%s is not over: the employee has not punched out of the shift that began then.", shift.Day))
		}
	}
	return nil
}

// earliest returns the first day of a timecard, which is not after a day.
func (r *Reader) earliest(ctx context.Context, tenantID, employeeID int64, day civil.Date) (civil.Date, error) {
	var first *time.Time
	from := civil.Beginning + daysBack + daysBefore
	if err := r.pool.QueryRow(ctx, readEarliest, tenantID, employeeID, from.Time(), from).Scan(&first); err != nil {
		return 0, fmt.Errorf("read the first day of a timecard: %w", err)
	}
	if first != nil {
		day = min(day, civil.FromTime(first.UTC())-1)
	}
	return day, nil
}

// freeze stores the days of a timecard as they are.
func (c *card) freeze(ctx context.Context, tx pgx.Tx, tenantID int64, by string) error {
	var days []civil.Date
	var worked, week []int64
	var bodies [][]byte
	for _, d := range c.nonEmptyDays() {
		day, err := civil.ParseDate(d.GetDate())
		if err != nil {
			return err
		}
		for _, t := range d.GetTotals() {
			t.SignedOff = true
		}
		body, err := proto.Marshal(d)
		if err != nil {
			return err
		}
		days, bodies = append(days, day), append(bodies, body)
		worked, week = append(worked, d.GetWorkedSeconds()), append(week, d.GetWeekSeconds())
	}
	if _, err := tx.Exec(ctx, insertSigned, tenantID, c.id, days, worked, week, bodies); err != nil {
		return fmt.Errorf("store signed days: %w", err)
	}
	if _, err := tx.Exec(ctx, insertSignoff, tenantID, c.id, c.days.To-1, time.Unix(c.openFrom(), 0), by); err != nil {
		return fmt.Errorf("store a sign-off: %w", err)
	}
	return nil
}

// openFrom returns the instant from which punches belong to days after those of the
// timecard: midnight, but for punches of shifts that cross it.
func (c *card) openFrom() int64 {
	open := c.zone.Unix(c.days.To.At(0))
	for i := range c.result.Shifts {
		shift := &c.result.Shifts[i]
		for _, span := range shift.Spans {
			for _, punch := range []int{span.In, span.Out} {
				switch {
				case punch < 0:
				case shift.Day >= c.days.To:
					open = min(open, c.punches[punch].At)
				default:
					open = max(open, c.punches[punch].At+1)
				}
			}
		}
	}
	return open
}

// Removing takes back what follows from a sign-off as well.
var removals = []string{
	`DELETE FROM historical_correction WHERE tenant_id = $1 AND employee_id = $2 AND historical_date > $3`,
	`DELETE FROM signed_day WHERE tenant_id = $1 AND employee_id = $2 AND day > $3`,
	`DELETE FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = $2 AND through > $3`,
}

// RemoveTimecardSignoff opens days that are signed off, and all after them. A sign-off is
// removed as a whole.
func (h *Signoffs) RemoveTimecardSignoff(ctx context.Context, req *timekeepingv1.SignOffTimecardRequest) (*emptypb.Empty, error) {
	tenantID, who, days, err := h.who(ctx, req.GetEmployee(), req.GetTimeframeId(), req.GetStartDate(), req.GetEndDate())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.cards.reader.inLock(ctx, tenantID, []int64{who.ID}, func(ctx context.Context, tx pgx.Tx) error {
		var left *civil.Date
		var any bool
		err := tx.QueryRow(ctx, `SELECT max(through) FILTER (WHERE through < $3), coalesce(bool_or(through >= $3), false)
			FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = $2`, tenantID, who.ID, days.From).Scan(&left, &any)
		if err != nil {
			return fmt.Errorf("read sign-offs: %w", err)
		}
		if !any {
			return fault.Invalid(timecardfault.CodeNotSigned, fmt.Sprintf("The timecard is not signed off on %s or later.", days.From))
		}
		last := civil.Beginning - 1
		if left != nil {
			last = *left
		}
		for _, sql := range removals {
			if _, err := tx.Exec(ctx, sql, tenantID, who.ID, last); err != nil {
				return fmt.Errorf("remove a sign-off: %w", err)
			}
		}
		return nil
	})
}

// ListTimecardSignoffs returns up to where a timecard is signed off.
func (h *Signoffs) ListTimecardSignoffs(ctx context.Context, req *timekeepingv1.ListTimecardSignoffsRequest) (*timekeepingv1.TimecardSignoffList, error) {
	tenantID, who, err := h.cards.who(ctx, &commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber})
	if err != nil {
		return nil, err
	}
	signed, err := signoffs(ctx, h.cards.reader.pool, tenantID, []int64{who.ID})
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.TimecardSignoff{
		Employee: &commonv1.Ref{Id: &who.ID, Qualifier: &who.Number, Name: &who.Number}, SignOffPending: proto.Bool(false),
	}
	if who.HireDate != nil {
		out.HireDate = who.HireDate.String()
	}
	if s, ok := signed[who.ID]; ok {
		out.ManagerSignOffThroughDate = s.through.String()
	}
	return &timekeepingv1.TimecardSignoffList{Signoffs: []*timekeepingv1.TimecardSignoff{out}}, nil
}

// known asks commons what it knows of an employee on some days.
func (r *Reader) known(ctx context.Context, id int64, days civil.Range) (*known, error) {
	of, err := r.ask(ctx, []int64{id}, days, false)
	return &known{id: id, days: days, of: of}, err
}
