package projection

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// Each employee is a separate index search. OFFSET 0 enforces that even before there are
	// statistics; a join would then read the whole tenant.
	findEmployees = `
SELECT u.position, e.id, e.person_number, e.full_name, e.time_zone, e.primary_jobs
FROM unnest($2::bigint[], $3::int[]) AS u (id, position)
CROSS JOIN LATERAL (SELECT * FROM employee WHERE tenant_id = $1 AND id = u.id OFFSET 0) AS e
UNION ALL
SELECT u.position, e.id, e.person_number, e.full_name, e.time_zone, e.primary_jobs
FROM unnest($4::text[], $5::int[]) AS u (person_number, position)
CROSS JOIN LATERAL (SELECT * FROM employee WHERE tenant_id = $1 AND person_number = u.person_number OFFSET 0) AS e`

	// The same for a range of ids.
	findEmployeesInRange = `
SELECT id, person_number, full_name, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 AND id BETWEEN $2 AND $3`

	allEmployees = `
SELECT id, person_number, full_name, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 ORDER BY id`

	countEmployees = `SELECT count(*) FROM employee WHERE tenant_id = $1`

	someEmployees = `
SELECT id, person_number, full_name, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id`
)

// Employees returns the employees of the references, in the same order. The qualifier of an
// employee is the person number. An employee who is unknown or not visible to the caller is the
// error WFS-103401; a reference without id and qualifier is the error WFS-103407.
func (r *Resolver) Employees(ctx context.Context, refs []*commonv1.Ref) ([]Employee, error) {
	var want lookupKeys
	for i, ref := range refs {
		if !want.add(ref, i) {
			return nil, fault.New(codeEmployeeMissing, http.StatusBadRequest, "A reference to an employee has neither id nor qualifier.")
		}
	}
	return r.employees(ctx, want, len(refs))
}

// EmployeesByList returns the employees of a list, in its order. An empty list returns all visible
// employees by ascending id. More than one form in the list is the error WFS-111207. If the
// operation must not write the caller's own record, the caller is omitted unless the list names
// them. The other errors are the same as for [Resolver.Employees].
func (r *Resolver) EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]Employee, error) {
	refs, err := reflist.AtMostOne(codeOneCriterion, "The list of employees", list)
	switch {
	case err != nil:
		return nil, err
	case len(refs) == 0:
		return r.allEmployees(ctx)
	case len(list.GetRefs()) > 0:
		return r.Employees(ctx, refs)
	}
	ids, numbers := list.GetIds(), list.GetQualifiers()
	var want lookupKeys
	for i, id := range ids {
		want.addID(id, i)
	}
	for i, number := range numbers {
		want.addKey(number, i)
	}
	return r.employees(ctx, want, len(ids)+len(numbers))
}

// CountEmployees returns the number of employees that an empty list returns.
func (r *Resolver) CountEmployees(ctx context.Context) (int, error) {
	tenantID := tenant.Of(ctx)
	visible, err := r.rules.Visible(ctx)
	if err != nil || !visible.All() {
		return len(visible.IDs()), err
	}
	var count int
	if err := r.pool.QueryRow(ctx, countEmployees, tenantID).Scan(&count); err != nil {
		return 0, fmt.Errorf("projection: count employees: %w", err)
	}
	return count, nil
}

// Visible returns the employees that the caller may see. Use it for employees that are not found by
// name.
func (r *Resolver) Visible(ctx context.Context) (rowvisibility.Set, error) {
	return r.rules.Visible(ctx)
}

func (r *Resolver) allEmployees(ctx context.Context) ([]Employee, error) {
	tenantID := tenant.Of(ctx)
	visible, err := r.rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	sql, args := allEmployees, []any{tenantID}
	if !visible.All() {
		sql, args = someEmployees, append(args, visible.IDs())
	}
	var employees []Employee
	var e Employee
	var zone string
	var jobs []byte
	err = pg.ForEach(ctx, r.pool, []any{&e.ID, &e.PersonNumber, &e.FullName, &zone, &jobs}, func() (err error) {
		if e.Jobs, err = ReadJobs(jobs); err != nil {
			return err
		}
		if e.Zone, err = r.zones.Get(zone); err == nil && visible.RefuseOwn(e.ID) == nil {
			employees = append(employees, e)
		}
		return err
	}, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("projection: read employees: %w", err)
	}
	return employees, nil
}

// EachEmployee is like Employees, but reports for each reference either the employee or, at the
// same position, an error.
func (r *Resolver) EachEmployee(ctx context.Context, refs []*commonv1.Ref) (employees []Employee, unknown []*fault.Error, err error) {
	unknown = make([]*fault.Error, len(refs))
	var want lookupKeys
	for i, ref := range refs {
		if !want.add(ref, i) {
			unknown[i] = fault.Invalid(codeEmployeeMissing, "A reference to an employee has neither id nor qualifier.")
		}
	}
	employees, missing, err := r.find(ctx, want, len(refs))
	if err != nil {
		return nil, nil, err
	}
	visible, err := r.rules.Visible(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range employees {
		if denied := visible.RefuseOwn(employees[i].ID); denied != nil {
			employees[i], unknown[i] = Employee{}, denied
		}
	}
	for i, id := range missing.ids {
		at := missing.idPositions[i]
		employees[at], unknown[at] = Employee{}, unknownEmployee(&lookupKeys{ids: []int64{id}})
	}
	for i, number := range missing.keys {
		at := missing.keyPositions[i]
		employees[at], unknown[at] = Employee{}, unknownEmployee(&lookupKeys{keys: []string{number}})
	}
	return employees, unknown, nil
}

// employees returns the count requested employees at their positions.
func (r *Resolver) employees(ctx context.Context, want lookupKeys, count int) ([]Employee, error) {
	employees, missing, err := r.find(ctx, want, count)
	if err != nil {
		return nil, err
	}
	if !missing.empty() {
		return nil, unknownEmployee(&missing)
	}
	return employees, r.refuseOwn(ctx, employees)
}

// refuseOwn returns an error if the operation must not write one of the employees because it is the
// caller's own record.
func (r *Resolver) refuseOwn(ctx context.Context, employees []Employee) error {
	if authn.OwnRecordFrom(ctx) == nil {
		return nil
	}
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	return r.rules.RefuseOwn(ctx, ids...)
}

// find returns the requested employees at their positions, and the unknown ones.
func (r *Resolver) find(ctx context.Context, want lookupKeys, count int) ([]Employee, lookupKeys, error) {
	visible, err := r.rules.Visible(ctx)
	if err != nil {
		return nil, lookupKeys{}, err
	}
	return r.findAmong(ctx, visible, want, count)
}

// EmployeeByID returns the employee with an id, even if not visible to the caller: other services
// have already checked the access. An unknown id is the error WFS-103401.
func (r *Resolver) EmployeeByID(ctx context.Context, id int64) (*Employee, error) {
	var want lookupKeys
	want.addID(id, 0)
	employees, missing, err := r.findAmong(ctx, rowvisibility.AllPersons(), want, 1)
	if err != nil {
		return nil, err
	}
	if !missing.empty() {
		return nil, unknownEmployee(&missing)
	}
	return &employees[0], nil
}

// findAmong is like find, but limited to the employees in visible.
func (r *Resolver) findAmong(ctx context.Context, visible rowvisibility.Set, want lookupKeys, count int) ([]Employee, lookupKeys, error) {
	rowvisibility.WritesForNobody(ctx) // Employees who are not found are not written; the callers check the others.
	employees := make([]Employee, count)
	missing, err := r.readEmployees(ctx, visible, want, employees)
	if err != nil || missing.empty() {
		return employees, lookupKeys{}, err
	}
	spelled, err := r.fetchEmployees(ctx, missing)
	if err != nil {
		return nil, lookupKeys{}, err
	}
	requested := slices.Clone(missing.keys)
	for i, number := range missing.keys {
		if stored, ok := spelled[names.Key(number)]; ok {
			missing.keys[i] = stored
		}
	}
	still, err := r.readEmployees(ctx, visible, missing, employees)
	for i, position := range still.keyPositions { // Errors contain the number as the caller sent it.
		still.keys[i] = requested[slices.Index(missing.keyPositions, position)]
	}
	return employees, still, err
}

// readEmployees fills in employees that are stored and visible, and returns the missing keys. A
// person number that two employees seem to have is missing, too.
func (r *Resolver) readEmployees(ctx context.Context, visible rowvisibility.Set, want lookupKeys, employees []Employee) (lookupKeys, error) {
	var suspects []int64
	matches := make([]int, len(employees))
	err := r.forEachEmployee(ctx, &want, func(position int32, e *Employee, zone string, jobs []byte) (err error) {
		if !visible.Has(e.ID) {
			authn.NoteNotVisible(ctx)
			return nil // Employees who are not visible must not be distinguishable from unknown ones, even by the time it takes.
		}
		if matches[position]++; matches[position] > 1 {
			suspects = append(suspects, employees[position].ID, e.ID)
		}
		if e.Jobs, err = ReadJobs(jobs); err != nil {
			return err
		}
		e.Zone, err = r.zones.Get(zone)
		employees[position] = *e
		return err
	})
	if err != nil {
		return lookupKeys{}, fmt.Errorf("projection: find employees: %w", err)
	}
	return want.missing(matches, suspects), nil
}

// forEachEmployee calls take for each found employee with its position and its encoded columns.
func (r *Resolver) forEachEmployee(ctx context.Context, want *lookupKeys, take func(position int32, e *Employee, zone string, jobs []byte) error) error {
	tenantID := tenant.Of(ctx)
	var position int32
	var e Employee
	var zone string
	var jobs []byte
	columns := []any{&e.ID, &e.PersonNumber, &e.FullName, &zone, &jobs}
	if least, positions := want.inRange(); positions != nil {
		found, err := r.pool.Query(ctx, findEmployeesInRange, tenantID, least, least+int64(len(positions))-1)
		if err != nil {
			return err
		}
		_, err = pgx.ForEachRow(found, columns, func() error {
			if position := positions[e.ID-least]; position != noPosition {
				return take(position, &e, zone, jobs)
			}
			return nil
		})
		return err
	}
	found, err := r.pool.Query(ctx, findEmployees, tenantID, want.ids, want.idPositions, want.keys, want.keyPositions)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(found, append([]any{&position}, columns...), func() error { return take(position, &e, zone, jobs) })
	return err
}

// fetchEmployees reads persons from commons and stores them. It returns their person numbers by
// normalized key, because callers can spell a number differently.
func (r *Resolver) fetchEmployees(ctx context.Context, missing lookupKeys) (spelled map[string]string, err error) {
	spelled = map[string]string{}
	err = fetch(ctx, r.pool, missing, func(ids []int64, numbers []string) ([]*commonsv1.PersonState, error) {
		response, err := r.persons.ResolvePersons(ctx, &commonsv1.ResolvePersonsRequest{Ids: ids, PersonNumbers: numbers})
		return response.GetPersons(), err
	}, func(ctx context.Context, tx pgx.Tx, states []*commonsv1.PersonState) error {
		for _, s := range states {
			spelled[names.Key(s.GetPersonNumber())] = s.GetPersonNumber()
		}
		return replica.Put(ctx, tx, r.copies.persons, states)
	})
	return spelled, err
}

// Identify asks commons for persons that are identified by other properties than id and person
// number. Persons that the caller may not see are not found.
func (r *Resolver) Identify(ctx context.Context, req *commonsv1.IdentifyPersonsRequest) ([]*commonsv1.IdentifiedPerson, error) {
	response, err := r.persons.IdentifyPersons(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("projection: identify persons in commons: %w", err)
	}
	return response.GetPersons(), nil
}
