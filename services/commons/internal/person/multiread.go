package person

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

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
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.BasePerson]{}
	err := h.eachBase(ctx, req.GetWhere(), func(k key, b *base) error {
		if b == nil {
			out.Fail(k.identity(), k.unknown())
		} else {
			out.Succeed(nil, b.wire())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.SettledAs(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &commonsv1.BasePersonList{Persons: done, Failure: failure}, err
}

// eachBase calls do for the short forms of the persons that a criterion names, in
// the order asked for, until it fails; with nil for who is unknown.
func (h *Handler) eachBase(ctx context.Context, where *commonsv1.PersonWhere, do func(key, *base) error) error {
	day, err := h.snapshot(where)
	if err != nil {
		return err
	}
	keys, err := readCriterion(where.GetEmployees(), day)
	if err != nil {
		return err
	}
	found, err := h.bases(ctx, tenantOf(ctx), keys, day)
	if err != nil {
		return err
	}
	if err := h.rows.hideUnseen(ctx, found); err != nil {
		return err
	}
	passes, err := h.passes(ctx, where.GetHyperFindFilter(), idsOf(found))
	if err != nil {
		return err
	}
	for _, k := range keys {
		b, known := found[k]
		switch {
		case !known:
			err = do(k, nil)
		case passes(b.ID) && (b.Active || !where.GetOnlyActivePerson()):
			err = do(k, &b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func idsOf(found map[key]base) []int64 {
	var ids []int64
	for _, b := range found {
		ids = append(ids, b.ID)
	}
	return ids
}

// bases answers the short forms of the persons that keys name.
func (h *Handler) bases(ctx context.Context, tenantID int64, keys []key, day civil.Date) (map[key]base, error) {
	ids, err := find(ctx, h.pool, tenantID, keys)
	if err != nil {
		return nil, err
	}
	rows, err := h.pool.Query(ctx, `SELECT p.id, p.person_number, p.full_name,
			coalesce((SELECT bool_or(s.status = $4 AND s.from_date <= $3 AND s.to_date > $3)
			          FROM employment_status s WHERE s.tenant_id = $1 AND s.person_id = p.id), true)
		FROM person p WHERE p.tenant_id = $1 AND p.id = ANY($2)`,
		tenantID, slices.Collect(maps.Values(ids)), day.Time(), active)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[base])
	if err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	byID := make(map[int64]base, len(list))
	for _, b := range list {
		byID[b.ID] = b
	}
	found := make(map[key]base, len(keys))
	for k, id := range ids {
		if b, ok := byID[id]; ok {
			found[k] = b
		}
	}
	return found, nil
}

// readCriterion answers the persons that a criterion names. A badge names who
// carries it on the day.
func readCriterion(c *commonsv1.PersonCriterion, on civil.Date) ([]key, error) {
	if len(c.GetMultiKey()) > 0 || len(c.GetMultiKeyValues()) > 0 {
		return readPairs(c)
	}
	keyOf, known := map[string]func(string) key{
		"personnumber":     func(v string) key { return key{number: v} },
		"username":         func(v string) key { return key{user: strings.ToLower(v)} },
		"useremailaddress": func(v string) key { return key{email: strings.ToLower(v)} },
		"badgenumber":      func(v string) key { return key{badge: v, day: on} },
		// A person has one assignment, and is one employee and one user: all
		// of them have the person's id.
		"personid": keyOfID, "employeeid": keyOfID, "jobassignmentid": keyOfID, "useraccountid": keyOfID,
	}[strings.ToLower(c.GetKey())]
	if !known {
		return nil, fault.Invalid(CodeKey, fmt.Sprintf("where.employees.key %q is none of personid, personnumber, "+
			"jobassignmentid, username, useraccountid, badgenumber, useremailaddress.", c.GetKey()))
	}
	if len(c.GetValues()) == 0 {
		return nil, fault.Invalid(CodeValues, "where.employees.values is empty.")
	}
	var keys []key
	for _, value := range c.GetValues() {
		if value == "" {
			return nil, fault.Invalid(CodeValues, "where.employees.values has an empty value.")
		}
		k := keyOf(value)
		if k == (key{}) {
			return nil, fault.Invalid(CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// keyOfID answers the key with an id, and none for a text that is no id.
func keyOfID(text string) key {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return key{}
	}
	return key{id: id}
}

// readPairs answers the persons that pairs of keys name.
func readPairs(c *commonsv1.PersonCriterion) ([]key, error) {
	if c.GetKey() != "" {
		return nil, fault.Invalid(CodeKeys, "where.employees has both key and multi_key.")
	}
	names := c.GetMultiKey()
	if len(names) != 2 || !strings.EqualFold(names[0], "aoid") || !strings.EqualFold(names[1], "coid") {
		return nil, fault.Invalid(CodeMultiKey, `where.employees.multi_key: only ["aoid", "coid"] is known here.`)
	}
	if len(c.GetMultiKeyValues()) == 0 {
		return nil, fault.Invalid(CodeValues, "where.employees.multi_key_values is empty.")
	}
	var keys []key
	for _, pair := range c.GetMultiKeyValues() {
		values := pair.GetValues()
		if len(values) != 2 || values[0].GetStringValue() == "" || values[1].GetStringValue() == "" {
			return nil, fault.Invalid(CodeValues, "where.employees.multi_key_values needs an aoid and a coid in each element.")
		}
		keys = append(keys, key{external: [2]string{values[0].GetStringValue(), values[1].GetStringValue()}})
	}
	return keys, nil
}

func (b base) wire() *commonsv1.BasePerson {
	return &commonsv1.BasePerson{
		PersonId:     b.ID,
		PersonNumber: b.Number,
		FullName:     b.FullName,
		DisplayName:  fmt.Sprintf("%s (%s)", b.FullName, b.Number),
	}
}
