package timecard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/jobname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// maxPunch bounds what is kept of a punch, in bytes.
const maxPunch = 16_384

// Punches serves PunchService.
type Punches struct {
	timekeepingv1.UnsafePunchServiceServer
	reader  *Reader
	persons *person.Directory
}

var _ timekeepingv1.PunchServiceServer = (*Punches)(nil)

// NewPunches returns a Punches that keeps punches in the database of the reader.
func NewPunches(reader *Reader, persons *person.Directory) *Punches {
	return &Punches{reader: reader, persons: persons}
}

// ImportPunches stores punches, each by itself.
func (h *Punches) ImportPunches(ctx context.Context, req *timekeepingv1.ImportPunchesRequest) (*timekeepingv1.ImportPunchesResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	if len(req.GetPunches()) == 0 {
		return nil, timecardfault.Missing("punches")
	}
	found, err := h.findEmployees(ctx, tenantID, req.GetPunches())
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ImportPunchesResponse{Punches: make([]*timekeepingv1.ImportedPunch, len(req.GetPunches()))}
	var rows []*punchRow
	var at []int
	for i, p := range req.GetPunches() {
		out.Punches[i] = &timekeepingv1.ImportedPunch{PunchForRest: p}
		row, err := h.reader.row(p, found)
		if err != nil {
			f := fault.FromError(err)
			out.Punches[i].TkError = &timekeepingv1.TkError{ErrorCode: f.Code, Message: f.Message}
			continue
		}
		rows, at = append(rows, row), append(at, i)
	}
	if err := h.reader.store(ctx, tenantID, rows); err != nil {
		return nil, err
	}
	for n, row := range rows {
		out.Punches[at[n]].PunchForRest = row.toProto()
	}
	return out, nil
}

// findEmployees finds those whom punches name; who does not exist is missing.
func (h *Punches) findEmployees(ctx context.Context, tenantID int64, list []*timekeepingv1.Punch) (map[person.Key]person.Person, error) {
	var keys []person.Key
	for _, p := range list {
		if key, err := keyOf(p.GetEmployee()); err == nil && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return h.persons.Find(ctx, tenantID, keys)
}

func keyOf(ref *commonv1.Ref) (person.Key, error) {
	switch {
	case ref != nil && ref.Id != nil && ref.GetId() != 0:
		return person.Key{ID: ref.GetId()}, nil
	case ref != nil && ref.Id == nil && ref.GetQualifier() != "":
		return person.Key{Number: ref.GetQualifier()}, nil
	}
	return person.Key{}, timecardfault.Missing("The id or the qualifier of an employee")
}

func unknownEmployee(key person.Key) *fault.Error {
	return fault.Invalid(timecardfault.CodeReference, key.Unknown().Message)
}

// punchRow is a punch that is to be stored.
type punchRow struct {
	punch
	employee person.Person
	shown    *timekeepingv1.Punch
}

// row checks a punch, and makes a row of it.
func (r *Reader) row(p *timekeepingv1.Punch, found map[person.Key]person.Person) (*punchRow, error) {
	key, err := keyOf(p.GetEmployee())
	if err != nil {
		return nil, err
	}
	who, ok := found[key]
	if !ok {
		return nil, unknownEmployee(key)
	}
	row := &punchRow{employee: who, shown: proto.CloneOf(p)}
	if err := r.resolveTimeZone(row, p); err != nil {
		return nil, err
	}
	if row.Direction, err = direction(p.GetTypeOverride()); err != nil {
		return nil, err
	}
	row.transfer(p)
	row.NoDeduction = p.GetCancelDeduction()
	return row, row.marshalBody()
}

// resolveTimeZone finds out when and where a punch was made.
func (r *Reader) resolveTimeZone(row *punchRow, p *timekeepingv1.Punch) error {
	name := row.employee.TimeZone
	if p.GetTimeZone() != nil {
		if name = p.GetTimeZone().GetQualifier(); name == "" {
			return timecardfault.Missing("timeZone.qualifier")
		}
	}
	zone, err := r.zones.Get(name)
	if errors.Is(err, civil.ErrZone) {
		return timecardfault.Invalid("timeZone.qualifier must be the name of an IANA time zone, such as Europe/Berlin")
	}
	if err != nil {
		return err
	}
	row.Zone = zone
	var at int64
	switch {
	case p.GetInstant() != "":
		instant, err := time.Parse(time.RFC3339, p.GetInstant())
		if err != nil {
			return timecardfault.Invalid("instant must be a time as in RFC 3339, such as 2026-11-01T06:30:00Z")
		}
		at = instant.Unix()
	case p.GetPunchDtm() != "":
		local, err := civil.ParseDateTime(p.GetPunchDtm())
		if err != nil {
			return fault.Invalid(fault.CodeDate, "punchDtm: "+err.Error()+".")
		}
		at = zone.Unix(local)
	default:
		return timecardfault.Missing("punchDtm")
	}
	if day := zone.At(time.Unix(at, 0)).Date; day < civil.Beginning || day >= civil.Forever {
		return timecardfault.Invalid("punchDtm must be from 1900-01-01 to 2999-12-31")
	}
	row.At = at
	return nil
}

// Names of directions, as refs give them.
const (
	inPunch  = "In Punch"
	outPunch = "Out Punch"
)

func direction(ref *commonv1.Ref) (worktime.Direction, error) {
	switch {
	case ref == nil:
		return worktime.Any, nil
	case ref.Id != nil && ref.GetId() == int64(worktime.In), ref.Id == nil && strings.EqualFold(ref.GetQualifier(), inPunch):
		return worktime.In, nil
	case ref.Id != nil && ref.GetId() == int64(worktime.Out), ref.Id == nil && strings.EqualFold(ref.GetQualifier(), outPunch):
		return worktime.Out, nil
	}
	return 0, timecardfault.Invalid("typeOverride must be 1, %s, or 2, %s", inPunch, outPunch)
}

func directionRef(d worktime.Direction) *commonv1.Ref {
	names := []string{worktime.In: inPunch, worktime.Out: outPunch}
	if d == worktime.Any {
		return nil
	}
	return &commonv1.Ref{Id: proto.Int64(int64(d)), Qualifier: &names[d]}
}

// transfer finds the job and the work rule of a punch.
func (row *punchRow) transfer(p *timekeepingv1.Punch) {
	t := p.GetTransfer()
	parts := strings.Split(t.GetTransferString()+";", ";")
	jobs := []*commonv1.Ref{p.GetOrgJob(), t.GetOrgJob(), {Id: orNil(t.GetOrgJobId())}, {Qualifier: &parts[0]}}
	rules := []*commonv1.Ref{p.GetWorkRule(), t.GetWorkRule(), {Id: orNil(t.GetWorkRuleId())}, {Qualifier: &parts[1]}}
	if job := firstNamed(jobs); job != nil {
		row.Job = jobname.Of(job)
	}
	if rule := firstNamed(rules); rule != nil {
		row.workRuleID, row.workRule = rule.Id, rule.GetQualifier()
	}
	row.Transfer = firstNamed(jobs[1:]) != nil || firstNamed(rules[1:]) != nil
}

func orNil(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// firstNamed returns the first ref that names something.
func firstNamed(refs []*commonv1.Ref) *commonv1.Ref {
	for _, ref := range refs {
		if ref != nil && (ref.Id != nil || ref.GetQualifier() != "") {
			return ref
		}
	}
	return nil
}

// keep makes the body of the row: what the columns do not hold.
func (row *punchRow) marshalBody() error {
	for _, list := range [][]string{{row.Job, row.workRule}} {
		for _, text := range list {
			if len(text) > 1000 || strings.ContainsRune(text, 0) {
				return timecardfault.Invalid("the names of jobs and work rules must have at most 1,000 bytes, none of them 0")
			}
		}
	}
	body := proto.CloneOf(row.shown)
	body.Id, body.Employee, body.PunchDtm, body.RoundedPunchDtm, body.OriginalPunchDtm, body.UpdatedOnDtm = nil, nil, "", "", "", ""
	body.TimeZone, body.Instant, body.TypeOverride, body.CancelDeduction = nil, "", nil, nil
	body.IsPhantom, body.IsScheduled, body.Editable, body.HasComments = nil, nil, nil, nil
	var err error
	if row.body, err = proto.Marshal(body); err != nil {
		return err
	}
	if len(row.body) > maxPunch {
		return timecardfault.Invalid("a punch must have at most %d bytes", maxPunch)
	}
	return nil
}

// toProto returns a stored punch as callers see it.
func (row *punchRow) toProto() *timekeepingv1.Punch {
	row.shown = row.punch.toProto(&commonv1.Ref{Id: &row.employee.ID, Qualifier: &row.employee.Number})
	return row.shown
}

// toProto returns a stored punch as callers see it. Its body must have been read.
func (p *punch) toProto(employee *commonv1.Ref) *timekeepingv1.Punch {
	out := &timekeepingv1.Punch{}
	if err := proto.Unmarshal(p.body, out); err != nil {
		out = &timekeepingv1.Punch{} // What the columns hold is all there is.
	}
	local := p.Local(p.At).String()
	out.Id, out.Employee, out.PunchDtm, out.OriginalPunchDtm = proto.Int64(p.ID), employee, local, local
	if out.GetEnteredOnDtm() == "" {
		out.EnteredOnDtm = p.Zone.At(p.entered).String()
	}
	out.UpdatedOnDtm = p.Zone.At(p.updatedAt).String()
	out.TimeZone = &commonv1.Ref{Qualifier: proto.String(p.Zone.Name())}
	out.Instant = time.Unix(p.At, 0).UTC().Format(time.RFC3339)
	out.TypeOverride = directionRef(p.Direction)
	if p.NoDeduction {
		out.CancelDeduction = proto.Bool(true)
	}
	out.HasComments = proto.Bool(len(out.GetCommentsNotes()) > 0)
	return out
}
