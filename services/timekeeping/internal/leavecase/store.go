package leavecase

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Case is a stored leave case.
type Case struct {
	ID         int64
	EmployeeID int64
	// Days are the days from startDate to endDate, inclusive.
	Days civil.Range

	number, fullName, timeZone string
	body                       *timekeepingv1.LeaveCase
}

// TimeZone is the IANA name of the zone of the employee's wall-clock times.
func (c *Case) TimeZone() string { return c.timeZone }

// Code is the case code.
func (c *Case) Code() string { return c.body.GetCaseCode() }

// StatusID and FrequencyID are ids of the lists in leavesetup.
func (c *Case) StatusID() int64 { return c.body.GetStatus().GetId() }

// FrequencyID returns the id of the leave frequency.
func (c *Case) FrequencyID() int64 { return c.body.GetFrequency().GetId() }

// Body returns the properties of the case. Callers must not change it.
func (c *Case) Body() *timekeepingv1.LeaveCase { return c.body }

// Ref returns the ref of the case for responses.
func (c *Case) Ref() *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(c.ID), Qualifier: proto.String(c.Code()), Name: proto.String(c.Code())}
}

// Employee returns the employee of the case for responses.
func (c *Case) Employee() *timekeepingv1.LeaveEmployee {
	return &timekeepingv1.LeaveEmployee{Id: &c.EmployeeID, Qualifier: &c.number, Name: &c.number, FullName: &c.fullName}
}

// Closed returns the error for a change of a closed case.
func (c *Case) Closed() *fault.Error {
	return fault.Invalid(CodeClosed, fmt.Sprintf("Leave case %s is closed. Open it first.", c.Code()))
}

// CheckOpen returns an error if the case does not accept leave edits.
func (c *Case) CheckOpen() error {
	switch c.StatusID() {
	case leavesetup.StatusClosed:
		return c.Closed()
	case leavesetup.StatusSubmitted:
		return fault.Invalid(CodeSubmitted, fmt.Sprintf("Leave case %s is submitted, but not open yet.", c.Code()))
	}
	return nil
}

// toProto returns the case in the form of responses.
func (c *Case) toProto() *timekeepingv1.LeaveCase {
	out := proto.CloneOf(c.body)
	out.Id, out.Employee, out.EmployeeFullName = proto.Int64(c.ID), c.Employee(), c.fullName
	out.DisplayCaseCode, out.LongCaseCode = c.Code(), c.Code()+" "+c.body.GetReason().GetName()
	return out
}

const selectCases = `
SELECT c.id, c.employee_id, c.from_date, c.to_date, c.body,
       coalesce(p.person_number, ''), coalesce(p.full_name, ''), coalesce(p.time_zone, 'UTC')
FROM leave_case c LEFT JOIN person p ON p.tenant_id = c.tenant_id AND p.id = c.employee_id
WHERE c.tenant_id = $1 AND `

func scanCase(row pgx.CollectableRow) (*Case, error) {
	c := &Case{body: &timekeepingv1.LeaveCase{}}
	var from, to civil.Date
	var body []byte
	if err := row.Scan(&c.ID, &c.EmployeeID, &from, &to, &body, &c.number, &c.fullName, &c.timeZone); err != nil {
		return nil, err
	}
	c.Days = civil.Range{From: from, To: to}
	if err := proto.Unmarshal(body, c.body); err != nil {
		return nil, fmt.Errorf("decode leave case %d: %w", c.ID, err)
	}
	return c, nil
}

func collect(ctx context.Context, db pg.Querier, where string, args ...any) ([]*Case, error) {
	found, err := db.Query(ctx, selectCases+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read leave cases: %w", err)
	}
	cases, err := pgx.CollectRows(found, scanCase)
	if err != nil {
		return nil, fmt.Errorf("read leave cases: %w", err)
	}
	return cases, nil
}

// ByIDs returns the cases with the ids; unknown ids are missing in the result.
func ByIDs(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*Case, error) {
	found, err := collect(ctx, db, `c.id = ANY($2)`, tenant.Of(ctx), ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*Case, len(found))
	for _, c := range found {
		out[c.ID] = c
	}
	return out, nil
}

// OfEmployees returns the cases of employees that overlap the days, by employee and start, up to a
// limit.
func OfEmployees(ctx context.Context, db pg.Querier, employees []int64, days civil.Range, limit int) ([]*Case, error) {
	// Each employee is a separate index search. OFFSET 0 keeps it so even before PostgreSQL has
	// statistics.
	return collect(ctx, db, `c.id = ANY(ARRAY(
    SELECT x.id FROM unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL (
        SELECT id FROM leave_case
        WHERE tenant_id = $1 AND employee_id = e.employee AND from_date < $4 AND to_date > $3 OFFSET 0
    ) AS x)) ORDER BY c.employee_id, c.from_date, c.id LIMIT $5`, tenant.Of(ctx), employees, days.From, days.To, limit)
}

// Find returns the cases that refs name, in their order. Cases of invisible employees count as
// unknown. Inside a transaction, lock prevents other transactions from changing them until it ends.
func Find(ctx context.Context, db pg.Querier, visible rowvisibility.Set, refs []*commonv1.Ref, lock bool) ([]*Case, error) {
	var ids []int64
	var codes []string
	for _, ref := range refs {
		switch {
		case ref.Id != nil:
			ids = append(ids, ref.GetId())
		case ref.GetQualifier() != "":
			codes = append(codes, ref.GetQualifier())
		default:
			return nil, fault.Invalid(CodeCaseIDMissing, "A leave case needs an id or a qualifier.")
		}
	}
	// PostgreSQL builds the array first, so that both kinds of names become index searches.
	where := `c.id = ANY(ARRAY(
    SELECT unnest($2::bigint[]) UNION ALL
    SELECT x.id FROM unnest($3::text[]) AS q (code) JOIN leave_case x ON x.tenant_id = $1 AND lower(x.case_code) = lower(q.code)
)) ORDER BY c.id`
	if lock {
		where += ` FOR UPDATE OF c`
	}
	found, err := collect(ctx, db, where, tenant.Of(ctx), ids, codes)
	if err != nil {
		return nil, err
	}
	out := make([]*Case, len(refs))
	for i, ref := range refs {
		if out[i] = findCase(found, ref); out[i] == nil {
			return nil, Unknown(ref)
		}
		if !visible.Has(out[i].EmployeeID) {
			authn.NoteNotVisible(ctx)
			return nil, Unknown(ref)
		}
		if refused := visible.RefuseOwn(out[i].EmployeeID); refused != nil {
			return nil, refused
		}
	}
	return out, nil
}

func insert(ctx context.Context, db pg.Querier, employeeID int64, d *draft) (int64, error) {
	var id int64
	if err := db.QueryRow(ctx, `SELECT nextval('leave_case_id')`).Scan(&id); err != nil {
		return 0, fmt.Errorf("number a leave case: %w", err)
	}
	if d.body.GetCaseCode() == "" {
		year, _, _ := d.days.From.Civil()
		d.body.CaseCode = fmt.Sprintf("%d-%04d", year, id)
	}
	body, err := proto.Marshal(d.body)
	if err != nil {
		return 0, fmt.Errorf("encode leave case: %w", err)
	}
	_, err = db.Exec(ctx, `
INSERT INTO leave_case (tenant_id, id, employee_id, case_code, code, status_id, from_date, to_date, body)
VALUES ($1, $2, $3, $4, nullif($5, ''), $6, $7, $8, $9)`,
		tenant.Of(ctx), id, employeeID, d.body.GetCaseCode(), d.body.GetCode(), d.body.GetStatus().GetId(),
		d.days.From, d.days.To, body)
	return id, translateUniqueError(err, d.body)
}

func update(ctx context.Context, db pg.Querier, id int64, d *draft) error {
	body, err := proto.Marshal(d.body)
	if err != nil {
		return fmt.Errorf("encode leave case: %w", err)
	}
	_, err = db.Exec(ctx, `
UPDATE leave_case SET case_code = $3, code = nullif($4, ''), status_id = $5, from_date = $6, to_date = $7, body = $8, updated_at = now()
WHERE tenant_id = $1 AND id = $2`,
		tenant.Of(ctx), id, d.body.GetCaseCode(), d.body.GetCode(), d.body.GetStatus().GetId(),
		d.days.From, d.days.To, body)
	return translateUniqueError(err, d.body)
}

func remove(ctx context.Context, db pg.Querier, ids []int64) error {
	if _, err := db.Exec(ctx, `DELETE FROM leave_case WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids); err != nil {
		return fmt.Errorf("delete leave cases: %w", err)
	}
	return nil
}

func translateUniqueError(err error, body *timekeepingv1.LeaveCase) error {
	switch {
	case err == nil:
		return nil
	case pgerr.IsUnique(err, "leave_case_case_code"):
		return fault.Invalid(CodeNotUnique, fmt.Sprintf("Another leave case has the caseCode %q.", body.GetCaseCode())).WithCause(err)
	case pgerr.IsUnique(err, "leave_case_code"):
		return fault.Invalid(CodeNotUnique, fmt.Sprintf("Another leave case has the code %q.", body.GetCode())).WithCause(err)
	}
	return fmt.Errorf("store leave case: %w", err)
}

// OneBy returns the case that query parameters name, if the caller sees its employee: by its id, or
// by its external code, or else by its case code.
func OneBy(ctx context.Context, db pg.Querier, visible rowvisibility.Set, id *int64, code string) (*Case, error) {
	switch {
	case id != nil:
		return One(ctx, db, visible, &commonv1.Ref{Id: id})
	case code == "":
		return nil, fault.Invalid(CodeCaseMissing, "Name the leave case by the parameter leave_case_id or code.")
	}
	found, err := collect(ctx, db, `c.code = $2`, tenant.Of(ctx), code)
	if err != nil {
		return nil, err
	}
	if len(found) == 1 && visible.Has(found[0].EmployeeID) {
		return found[0], nil
	}
	return One(ctx, db, visible, &commonv1.Ref{Qualifier: &code})
}

// One returns the case that a ref names, if its employee is visible.
func One(ctx context.Context, db pg.Querier, visible rowvisibility.Set, ref *commonv1.Ref) (*Case, error) {
	if ref == nil {
		return nil, fault.Invalid(CodeCaseMissing, "The leave case is missing: name it by its id or its code.")
	}
	found, err := Find(ctx, db, visible, []*commonv1.Ref{ref}, false)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// OfCaller returns the case that a ref names, if the caller sees it. Do not call it inside a
// transaction.
func OfCaller(ctx context.Context, pool *pg.Pool, persons *person.Directory, ref *commonv1.Ref) (*Case, error) {
	visible, err := persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	return One(ctx, pool, visible, ref)
}
