package person

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// maxResolved bounds ids and numbers of one call between services.
const maxResolved = 10000

// key names a person: by id, or by person number when the id is 0.
type key struct {
	id     int64
	number string
}

// base is the short form of a person.
type base struct {
	ID       int64
	Number   string
	FullName string
	// Active on the day of the request; a person without any employment
	// status counts as active.
	Active bool
}

// MultiReadBasePersons answers the short form of persons in the order asked
// for. Unknown persons fail by themselves; those who are not active are left
// out when only active ones are asked for.
func (h *Handler) MultiReadBasePersons(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.BasePersonList, error) {
	tenantID, _ := tenant.From(ctx)
	keys, err := readCriterion(req.GetWhere().GetEmployees())
	if err != nil {
		return nil, err
	}
	day := civil.FromTime(h.clock.Now())
	if text := req.GetWhere().GetSnapshotDate(); text != "" {
		if day, err = civil.ParseDate(text); err != nil {
			return nil, fault.Invalid(fault.CodeDate, "where.snapshotDate: "+err.Error())
		}
	}
	found, err := h.bases(ctx, tenantID, keys, day.Clamp())
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.BasePerson]{}
	for _, k := range keys {
		b, known := found[k]
		switch {
		case !known:
			out.Fail(k.identity(), k.unknown())
		case b.Active || !req.GetWhere().GetOnlyActivePerson():
			out.Succeed(nil, b.wire())
		}
	}
	failure, err := out.Failure()
	if err != nil {
		return nil, err
	}
	if failure != nil {
		failure.ErrorCode = fault.CodeBulkFailed // What operations on persons say.
		return &commonsv1.BasePersonList{Failure: failure}, rpc.PartialSuccess(ctx)
	}
	return &commonsv1.BasePersonList{Persons: out.Successes()}, nil
}

func (h *Handler) bases(ctx context.Context, tenantID int64, keys []key, day civil.Date) (map[key]base, error) {
	var ids []int64
	var numbers []string
	for _, k := range keys {
		if k.id != 0 {
			ids = append(ids, k.id)
		} else {
			numbers = append(numbers, k.number)
		}
	}
	rows, err := h.pool.Query(ctx, `SELECT p.id, p.person_number, p.full_name,
			coalesce((SELECT bool_or(s.status = $5 AND s.from_date <= $4 AND s.to_date > $4)
			          FROM employment_status s WHERE s.tenant_id = $1 AND s.person_id = p.id), true)
		FROM person p WHERE p.tenant_id = $1 AND (p.id = ANY($2) OR p.person_number = ANY($3))`,
		tenantID, ids, numbers, day.Time(), active)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[base])
	if err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	found := make(map[key]base, 2*len(list))
	for _, b := range list {
		found[key{id: b.ID}], found[key{number: b.Number}] = b, b
	}
	return found, nil
}

// readCriterion answers the persons that a criterion names.
func readCriterion(c *commonsv1.PersonCriterion) ([]key, error) {
	kind := strings.ToLower(c.GetKey())
	if kind != "personid" && kind != "personnumber" {
		return nil, fault.Invalid(CodeKey, fmt.Sprintf("where.employees.key %q is neither personid nor personnumber.", c.GetKey()))
	}
	if len(c.GetValues()) == 0 {
		return nil, fault.Invalid(CodeValues, "where.employees.values is empty.")
	}
	keys := make([]key, 0, len(c.GetValues()))
	for _, value := range c.GetValues() {
		if value == "" {
			return nil, fault.Invalid(CodeValues, "where.employees.values has an empty value.")
		}
		if kind == "personnumber" {
			keys = append(keys, key{number: value})
			continue
		}
		id, err := strconv.ParseInt(value, 10, 64)
		if err != nil || id <= 0 {
			return nil, fault.Invalid(CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
		}
		keys = append(keys, key{id: id})
	}
	return keys, nil
}

func (k key) unknown() *fault.Error {
	if k.id != 0 {
		return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the id %d.", k.id))
	}
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the person number %q.", k.number))
}

func (k key) identity() *commonsv1.PersonIdentity {
	if k.id != 0 {
		return &commonsv1.PersonIdentity{PersonKey: &k.id}
	}
	return &commonsv1.PersonIdentity{PersonNumber: &k.number}
}

func (b base) wire() *commonsv1.BasePerson {
	return &commonsv1.BasePerson{
		PersonId:     b.ID,
		PersonNumber: b.Number,
		FullName:     b.FullName,
		DisplayName:  fmt.Sprintf("%s (%s)", b.FullName, b.Number),
	}
}

// ResolvePersons answers what other domains keep of persons. Unknown ones are
// left out.
func (h *Handler) ResolvePersons(ctx context.Context, req *commonsv1.ResolvePersonsRequest) (*commonsv1.ResolvePersonsResponse, error) {
	tenantID, _ := tenant.From(ctx)
	if n := len(req.GetIds()) + len(req.GetPersonNumbers()); n > maxResolved {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d persons are more than the allowed %d.", n, maxResolved))
	}
	rows, err := h.pool.Query(ctx, `SELECT id, person_number, full_name, time_zone, version, hire_date FROM person
		WHERE tenant_id = $1 AND (id = ANY($2) OR person_number = ANY($3)) ORDER BY id`,
		tenantID, req.GetIds(), req.GetPersonNumbers())
	if err != nil {
		return nil, err
	}
	out := &commonsv1.ResolvePersonsResponse{}
	out.Persons, err = pgx.CollectRows(rows, scanState)
	return out, err
}

func scanState(row pgx.CollectableRow) (*commonsv1.PersonState, error) {
	s := &commonsv1.PersonState{}
	var hired *time.Time
	if err := row.Scan(&s.PersonId, &s.PersonNumber, &s.FullName, &s.TimeZone, &s.Version, &hired); err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	if hired != nil {
		s.HireDate = civil.FromTime(*hired).String()
	}
	return s, nil
}
