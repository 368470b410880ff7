package punch

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// maxBytes is the maximum size of the stored body of a punch, in bytes.
const maxBytes = 16_384

// Entry is a punch of an employee before it is stored.
type Entry struct {
	Punch
	Employee person.Person
	// NamedJob is the job that the punch names. SetJob finds its path.
	NamedJob orgjob.Name
}

// SetJob sets the path of the job that the punch names. It returns an error if the job is unknown.
func (e *Entry) SetJob(jobs orgjob.Jobs) (err error) {
	e.Job, err = jobs.Path(e.NamedJob)
	return err
}

// Day returns the day of the punch, by the clock of the employee.
func (e *Entry) Day() civil.Range {
	day := e.Local(e.At).Date
	return civil.Through(day, day)
}

// aheadMost is the maximum time that a punch may be in the future. It is the largest accepted error
// of a time clock.
const aheadMost = 24 * time.Hour

// CheckTime returns an error if the employee cannot have made a punch at its time.
func (e *Entry) CheckTime(now time.Time) error {
	if time.Unix(e.At, 0).After(now.Add(aheadMost)) {
		return fault.Invalid(timecardfault.CodeNotYet, e.Local(e.At).String()+" is in the future. Correct the time of the punch, or the clock that made it.")
	}
	day := e.Local(e.At).Date
	if hired := e.Employee.HireDate; hired != nil && day < *hired {
		return fault.Invalid(timecardfault.CodeNotEmployed,
			fmt.Sprintf("The employee was not employed on %s, and was hired on %s. Correct the time of the punch, or the hire date.", day, hired))
	}
	for _, terminated := range e.Employee.Terminated {
		if terminated.Contains(day) && !e.endsLastShift(terminated) {
			return fault.Invalid(timecardfault.CodeNotEmployed,
				fmt.Sprintf("The employment was terminated from %s on. Correct the time of the punch, or the employment status.", terminated.From))
		}
	}
	return nil
}

// lastShiftEnds is the time on the first day after a termination until which a punch may end the
// night shift of the last day.
const lastShiftEnds = 12 * 3600

// endsLastShift reports whether a punch may end a shift that began before the termination.
func (e *Entry) endsLastShift(terminated civil.Range) bool {
	at := e.Local(e.At)
	return at.Date == terminated.From && at.Seconds <= lastShiftEnds && e.Direction != worktime.In
}

// Parse validates a punch of an employee, and converts it to an entry.
func Parse(zones *civil.Zones, p *timekeepingv1.Punch, who person.Person) (*Entry, error) {
	e := &Entry{Employee: who}
	badTime := e.resolveTime(zones, p)
	direction, badDirection := ParseDirection(p.GetTypeOverride())
	e.Direction = direction
	var badEntered error
	if entered := p.GetEnteredOnDtm(); entered != "" {
		if _, err := civil.ParseDateTime(entered); err != nil {
			badEntered = fault.Invalid(fault.CodeDate, "enteredOnDtm: "+err.Error()+".").WithMembers("enteredOnDtm")
		}
	}
	if err := fault.Join(badTime, badDirection, badEntered); err != nil {
		return nil, err
	}
	e.transfer(p)
	e.NoDeduction = p.GetCancelDeduct() || p.GetIsCancelDeduct()
	return e, e.marshalBody(p)
}

// resolveTime determines the instant and the time zone of a punch.
func (e *Entry) resolveTime(zones *civil.Zones, p *timekeepingv1.Punch) error {
	clocks, badZone := e.clocks(zones, p)
	var instant time.Time
	var local civil.DateTime
	var err, badTime error
	switch {
	case p.GetInstant() != "":
		if instant, err = time.Parse(time.RFC3339, p.GetInstant()); err != nil {
			badTime = timecardfault.InvalidAt("instant", "must be a time as in RFC 3339, such as 2026-11-01T06:30:00Z")
		}
	case p.GetPunchDtm() != "":
		if local, err = civil.ParseDateTime(p.GetPunchDtm()); err != nil {
			badTime = fault.Invalid(fault.CodeDate, "punchDtm: "+err.Error()+".").WithMembers("punchDtm")
		}
	default:
		badTime = timecardfault.Missing("punchDtm")
	}
	if err := fault.Join(badZone, badTime); err != nil {
		return err
	}
	var at int64
	if p.GetInstant() != "" {
		at, e.Zone = instant.Unix(), clocks.ZoneAt(instant)
	} else {
		e.Zone = clocks.On(local.Date)
		at = e.Zone.Unix(local)
	}
	if day := e.Zone.At(time.Unix(at, 0)).Date; day < civil.Beginning || day >= civil.Forever {
		return timecardfault.InvalidAt("punchDtm", "must be from 1900-01-01 to 2999-12-31")
	}
	e.At = at
	return nil
}

// clocks returns the clocks of the time zone that the punch names, or else of the employee.
func (e *Entry) clocks(zones *civil.Zones, p *timekeepingv1.Punch) (civil.Clocks, error) {
	if p.GetTimeZone() == nil {
		return e.Employee.Clocks(zones)
	}
	if p.GetTimeZone().GetQualifier() == "" {
		return civil.Clocks{}, timecardfault.Missing("timeZone.qualifier")
	}
	zone, err := zones.Get(p.GetTimeZone().GetQualifier())
	if errors.Is(err, civil.ErrZone) {
		return civil.Clocks{}, timecardfault.InvalidAt("timeZone.qualifier", "must be the name of an IANA time zone, such as Europe/Berlin")
	}
	return civil.NewClocks(zone), err
}

// Qualifiers of directions.
const (
	inPunch  = "In Punch"
	outPunch = "Out Punch"
)

// ParseDirection returns the direction of the typeOverride of a punch. Without one, it is Any.
func ParseDirection(ref *commonv1.Ref) (worktime.Direction, error) {
	switch {
	case ref == nil:
		return worktime.Any, nil
	case ref.Id != nil && ref.GetId() == int64(worktime.In), ref.Id == nil && strings.EqualFold(ref.GetQualifier(), inPunch):
		return worktime.In, nil
	case ref.Id != nil && ref.GetId() == int64(worktime.Out), ref.Id == nil && strings.EqualFold(ref.GetQualifier(), outPunch):
		return worktime.Out, nil
	}
	return 0, timecardfault.InvalidAt("typeOverride", "must be 1, %s, or 2, %s", inPunch, outPunch)
}

// transfer determines the job and the work rule of a punch.
func (e *Entry) transfer(p *timekeepingv1.Punch) {
	t := p.GetTransfer()
	parts := strings.Split(t.GetTransferString()+";", ";")
	jobs := []*commonv1.Ref{p.GetOrgJob(), t.GetOrgJob(), {Id: orNil(t.GetOrgJobId())}, {Qualifier: &parts[0]}}
	rules := []*commonv1.Ref{p.GetWorkRule(), t.GetWorkRule(), {Id: orNil(t.GetWorkRuleId())}, {Qualifier: &parts[1]}}
	if job := firstNamed(jobs); job != nil {
		e.NamedJob, e.Job = orgjob.NewName(e.Employee.ID, e.Local(e.At).Date, job), orgjob.Text(job)
	}
	if rule := firstNamed(rules); rule != nil {
		e.WorkRuleID, e.WorkRule = rule.Id, rule.GetQualifier()
	}
	e.Transfer = firstNamed(jobs[1:]) != nil || firstNamed(rules[1:]) != nil
}

func orNil(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// firstNamed returns the first ref that has an id or a qualifier.
func firstNamed(refs []*commonv1.Ref) *commonv1.Ref {
	for _, ref := range refs {
		if ref != nil && (ref.Id != nil || ref.GetQualifier() != "") {
			return ref
		}
	}
	return nil
}

// marshalBody sets the body of the entry: the properties that have no column.
func (e *Entry) marshalBody(p *timekeepingv1.Punch) error {
	for _, list := range [][]string{{e.Job, e.WorkRule}} {
		for _, text := range list {
			if len(text) > 1000 || strings.ContainsRune(text, 0) {
				return timecardfault.Invalid("the names of jobs and work rules must have at most 1,000 bytes, none of them 0")
			}
		}
	}
	body := proto.CloneOf(p)
	body.Id, body.Employee, body.PunchDtm, body.RoundedPunchDtm, body.OriginalPunchDtm, body.UpdatedOnDtm = nil, nil, "", "", "", ""
	body.TimeZone, body.Instant, body.TypeOverride, body.CancelDeduct, body.IsCancelDeduct = nil, "", nil, nil, nil
	body.SignOffChange = ""
	body.IsPhantom, body.IsScheduled, body.Editable, body.HasComments = nil, nil, nil, nil
	var err error
	if e.Body, err = proto.Marshal(body); err != nil {
		return err
	}
	if len(e.Body) > maxBytes {
		return timecardfault.Invalid("a punch must have at most %d bytes", maxBytes)
	}
	return nil
}

// ToProto returns a stored entry in the form of responses.
func (e *Entry) ToProto() *timekeepingv1.Punch {
	return e.Punch.ToProto(&commonv1.Ref{Id: &e.Employee.ID, Qualifier: &e.Employee.Number})
}
