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
	// Each employee is a search of its own in an index: OFFSET 0 keeps it so
	// before there are statistics, with which a join reads the whole tenant.
	findEmployees = `
SELECT u.position, e.id, e.person_number, e.full_name, e.time_zone, e.primary_jobs
FROM unnest($2::bigint[], $3::int[]) AS u (id, position)
CROSS JOIN LATERAL (SELECT * FROM employee WHERE tenant_id = $1 AND id = u.id OFFSET 0) AS e
UNION ALL
SELECT u.position, e.id, e.person_number, e.full_name, e.time_zone, e.primary_jobs
FROM unnest($4::text[], $5::int[]) AS u (person_number, position)
CROSS JOIN LATERAL (SELECT * FROM employee WHERE tenant_id = $1 AND person_number = u.person_number OFFSET 0) AS e`

	// The same of a range of ids.
	findEmployeesInRange = `
SELECT id, person_number, full_name, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 AND id BETWEEN $2 AND $3`

	allEmployees = `
SELECT id, person_number, full_name, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 ORDER BY id`

	countEmployees = `SELECT count(*) FROM employee WHERE tenant_id = $1`

	someEmployees = `
SELECT id, person_number, full_name, time_zone, primary_jobs FROM employee WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id`
)

// Employees returns the employees that refs name, in the same order; the
// qualifier of an employee is the person number. A ref that names nobody whom
// the caller may see is the error WFS-103401, one without id and qualifier
// WFS-103407.
func (r *Resolver) Employees(ctx context.Context, refs []*commonv1.Ref) ([]Employee, error) {
	var want lookupKeys
	for i, ref := range refs {
		if !want.add(ref, i) {
			return nil, fault.New(codeEmployeeMissing, http.StatusBadRequest, "An employee is named by neither id nor qualifier.")
		}
	}
	return r.employees(ctx, want, len(refs))
}

// EmployeesByList returns the employees that a list names, in its order, and
// for an empty list every employee whom the caller may see, by ascending id. More than one list in it is
// the error WFS-111207; an operation that must not write to the caller's own record leaves
// it out unless the list names it. The others are those of [Resolver.Employees].
func (r *Resolver) EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]Employee, error) {
	ids, numbers := list.GetIds(), list.GetQualifiers()
	var want lookupKeys
	switch given := reflist.CountKinds(list); {
	case given > 1:
		return nil, fault.New(codeOneCriterion, http.StatusBadRequest, "Give exactly one of ids, qualifiers and refs.")
	case given == 0:
		return r.allEmployees(ctx)
	case len(list.GetRefs()) > 0:
		return r.Employees(ctx, list.GetRefs())
	}
	for i, id := range ids {
		want.addID(id, i)
	}
	for i, number := range numbers {
		want.addKey(number, i)
	}
	return r.employees(ctx, want, len(ids)+len(numbers))
}

// CountEmployees returns how many employees an empty list stands for.
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

// Visible returns the employees whom the caller may see, for what is found in
// another way than by naming them.
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

// EachEmployee is Employees for those who want to know of each ref whether it names
// somebody: for each either the employee or, at the same position, why not.
func (r *Resolver) EachEmployee(ctx context.Context, refs []*commonv1.Ref) (employees []Employee, unknown []*fault.Error, err error) {
	unknown = make([]*fault.Error, len(refs))
	var want lookupKeys
	for i, ref := range refs {
		if !want.add(ref, i) {
			unknown[i] = fault.Invalid(codeEmployeeMissing, "An employee is named by neither id nor qualifier.")
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
		if refused := visible.RefuseOwn(employees[i].ID); refused != nil {
			employees[i], unknown[i] = Employee{}, refused
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

// employees returns the wanted employees at their positions, of which there
// are count.
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

// refuseOwn refuses employees whose record the operation may not write because it is the
// caller's own.
func (r *Resolver) refuseOwn(ctx context.Context, employees []Employee) error {
	if authn.OwnRecordOf(ctx) == nil {
		return nil
	}
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	return r.rules.RefuseOwn(ctx, ids...)
}

// find returns the wanted employees at their positions, and those who are unknown.
func (r *Resolver) find(ctx context.Context, want lookupKeys, count int) ([]Employee, lookupKeys, error) {
	tenantID := tenant.Of(ctx)
	visible, err := r.rules.Visible(ctx)
	if err != nil {
		return nil, lookupKeys{}, err
	}
	return r.findAmong(ctx, tenantID, visible, want, count)
}

// EmployeeByID returns the employee with an id, also one whom the caller does not see: other
// services have found out whom the caller sees before they call. An unknown one is the error
// WFS-103401.
func (r *Resolver) EmployeeByID(ctx context.Context, id int64) (*Employee, error) {
	tenantID := tenant.Of(ctx)
	var want lookupKeys
	want.addID(id, 0)
	employees, missing, err := r.findAmong(ctx, tenantID, rowvisibility.AllPersons(), want, 1)
	if err != nil {
		return nil, err
	}
	if !missing.empty() {
		return nil, unknownEmployee(&missing)
	}
	return &employees[0], nil
}

// findAmong is find among some employees.
func (r *Resolver) findAmong(ctx context.Context, tenantID int64, visible rowvisibility.Set, want lookupKeys, count int) ([]Employee, lookupKeys, error) {
	rowvisibility.WritesForNobody(ctx) // Nobody is written for who is not found; the callers check the others.
	employees := make([]Employee, count)
	missing, err := r.knownEmployees(ctx, tenantID, visible, want, employees)
	if err != nil || missing.empty() {
		return employees, lookupKeys{}, err
	}
	spelled, err := r.fetchEmployees(ctx, tenantID, missing)
	if err != nil {
		return nil, lookupKeys{}, err
	}
	asked := slices.Clone(missing.keys)
	for i, number := range missing.keys {
		if own, ok := spelled[names.Key(number)]; ok {
			missing.keys[i] = own
		}
	}
	still, err := r.knownEmployees(ctx, tenantID, visible, missing, employees)
	for i, position := range still.keyPositions { // An error names what the caller has sent.
		still.keys[i] = asked[slices.Index(missing.keyPositions, position)]
	}
	return employees, still, err
}

// knownEmployees fills employees with those that are known and visible, and
// returns what is missing. A person number that two employees seem to have is
// missing.
func (r *Resolver) knownEmployees(ctx context.Context, tenantID int64, visible rowvisibility.Set, want lookupKeys, employees []Employee) (lookupKeys, error) {
	var suspects []int64
	matches := make([]int, len(employees))
	err := r.eachFound(ctx, tenantID, &want, func(position int32, e *Employee, zone string, jobs []byte) (err error) {
		if !visible.Has(e.ID) {
			authn.NoteNotVisible(ctx)
			return nil // As unknown as one that is not there, and as long to find out.
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

// eachFound calls take for each employee that is found, and what is to be read of it,
// with the position that it has.
func (r *Resolver) eachFound(ctx context.Context, tenantID int64, want *lookupKeys, take func(position int32, e *Employee, zone string, jobs []byte) error) error {
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
			if position := positions[e.ID-least]; position != nowhere {
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

// fetchEmployees asks commons for persons and keeps what it returns. It returns the person
// numbers as they are stored, by their keys: callers may write them in another way.
func (r *Resolver) fetchEmployees(ctx context.Context, tenantID int64, missing lookupKeys) (spelled map[string]string, err error) {
	spelled = map[string]string{}
	err = fetch(ctx, r.pool, missing, func(ids []int64, numbers []string) ([]*commonsv1.PersonState, error) {
		response, err := r.persons.ResolvePersons(ctx, &commonsv1.ResolvePersonsRequest{Ids: ids, PersonNumbers: numbers})
		return response.GetPersons(), err
	}, func(ctx context.Context, tx pgx.Tx, states []*commonsv1.PersonState) error {
		for _, s := range states {
			spelled[names.Key(s.GetPersonNumber())] = s.GetPersonNumber()
		}
		return replica.Put(ctx, tx, r.copies.persons, tenantID, states)
	})
	return spelled, err
}

// Identify asks commons for persons whom the caller names by more than an id or a person
// number. Whom the caller may not see is not found.
func (r *Resolver) Identify(ctx context.Context, req *commonsv1.IdentifyPersonsRequest) ([]*commonsv1.IdentifiedPerson, error) {
	response, err := r.persons.IdentifyPersons(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("projection: identify persons in commons: %w", err)
	}
	return response.GetPersons(), nil
}
