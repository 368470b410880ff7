// Package personreference finds and renames, for the services that own them, the objects that persons refer to
// by name.
package personreference

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

const (
	// personsPerChange is the number of persons of one transaction and one event.
	personsPerChange = 100
	// renameTime is the time after which a call stops, and leaves the other persons to the next call.
	renameTime = 3 * time.Second
	// renameAttempts limits the attempts after conflicts with changes of the same persons.
	renameAttempts = 4
	// namedUsers is the number of persons that a response names.
	namedUsers = 3
)

// Handler serves PersonReferenceService.
type Handler struct {
	commonsv1.UnsafePersonReferenceServiceServer
	pool *pg.Pool
}

var _ commonsv1.PersonReferenceServiceServer = (*Handler)(nil)

// New returns a Handler that changes the database of the pool.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

// naming is a property of persons that names an object of timekeeping or scheduling.
type naming struct {
	table, column string
	// person is the column with the id of the person.
	person string
	// where limits the rows to the ones in the index of the names, or is "".
	where string
	// condition is the property of hyperfind conditions on the name, or "".
	condition string
	// inBody reports that persons whom a program of the release before stored have the name in the body
	// only. It returns the bytes of the name in the body.
	inBody func(name string) ([]byte, error)
	// names returns the places of the names in a person.
	names func(r *record.Record) []*string
}

var namings = map[commonsv1.PersonReference]naming{
	commonsv1.PersonReference_PERSON_REFERENCE_PAY_RULE: {table: "pay_rule_assignment", column: "pay_rule_name", person: "person_id", condition: "PAY_RULE", names: func(r *record.Record) (out []*string) {
		for _, e := range r.PayRules {
			out = append(out, &e.PayRuleName)
		}
		return out
	}},
	commonsv1.PersonReference_PERSON_REFERENCE_WORK_RULE: {table: "wage_work_rule", column: "work_rule_name", person: "person_id", names: func(r *record.Record) (out []*string) {
		for _, e := range r.WageRules {
			if e.GetWorkRule().GetQualifier() != "" {
				out = append(out, e.WorkRule.Qualifier)
			}
		}
		return out
	}},
	commonsv1.PersonReference_PERSON_REFERENCE_ACCRUAL_PROFILE: {
		table: "accrual_profile_assignment", column: "accrual_profile_name", person: "person_id",
		inBody: func(name string) ([]byte, error) {
			return proto.Marshal(&commonsv1.PersonDetails{AccrualProfileName: name})
		},
		names: func(r *record.Record) (out []*string) {
			for _, e := range r.AccrualProfiles {
				out = append(out, &e.AccrualProfileName)
			}
			return out
		},
	},
	commonsv1.PersonReference_PERSON_REFERENCE_SCHEDULE_GROUP: {table: "person", column: "schedule_group_name", person: "id", where: " AND schedule_group_name <> ''", names: func(r *record.Record) []*string {
		if job := r.Message.GetJobAssignment(); job.GetScheduleGroupName() != "" {
			return []*string{&job.ScheduleGroupName}
		}
		return nil
	}},
}

// usersSQL returns SQL for the ids of the persons with one of the names, with its arguments.
func (n naming) usersSQL(ctx context.Context, names []string) (string, []any, error) {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = strings.ToLower(name)
	}
	sql := fmt.Sprintf(`SELECT %[3]s AS person_id FROM %[1]s WHERE tenant_id = $1%[4]s AND (lower(%[2]s) = ANY($2) OR lower(%[2]s) = ANY($3))`,
		n.table, n.column, n.person, n.where)
	args := []any{tenant.Of(ctx), names, folded}
	if n.inBody == nil {
		return sql, args, nil
	}
	var encoded [][]byte
	for _, name := range names {
		b, err := n.inBody(name)
		if err != nil {
			return "", nil, err
		}
		encoded = append(encoded, b)
	}
	sql += ` UNION SELECT id FROM person WHERE tenant_id = $1 AND EXISTS (SELECT FROM unnest($4::bytea[]) AS n (name) WHERE position(n.name IN body) > 0)`
	return sql, append(args, encoded), nil
}

// FindPersonReferences finds the persons with an object of timekeeping or scheduling.
func (h *Handler) FindPersonReferences(ctx context.Context, req *commonsv1.FindPersonReferencesRequest) (*commonsv1.FindPersonReferencesResponse, error) {
	n, ok := namings[req.GetKind()]
	if !ok {
		return nil, fault.Invalid(fault.CodeBadRequest, "kind is missing, or unknown.")
	}
	users, args, err := n.usersSQL(ctx, req.GetNames())
	if err != nil {
		return nil, err
	}
	out := &commonsv1.FindPersonReferencesResponse{}
	var number string
	err = pg.ForEach(ctx, h.pool, []any{&number, &out.Persons}, func() error {
		out.PersonNumbers = append(out.PersonNumbers, number)
		return nil
	}, `SELECT person_number, count(*) OVER () FROM person WHERE tenant_id = $1 AND id IN (`+users+fmt.Sprintf(`) ORDER BY id LIMIT %d`, namedUsers), args...)
	if err != nil {
		return nil, fmt.Errorf("find the persons of %s: %w", n.table, err)
	}
	return out, nil
}

// RenamePersonReferences writes the new name of an object into the data of persons, and then into
// the conditions of hyperfinds.
func (h *Handler) RenamePersonReferences(ctx context.Context, req *commonsv1.RenamePersonReferencesRequest) (*commonsv1.RenamePersonReferencesResponse, error) {
	n, ok := namings[req.GetKind()]
	if !ok || req.GetFrom() == "" || req.GetTo() == "" {
		return nil, fault.Invalid(fault.CodeBadRequest, "kind, from or to is missing, or kind is unknown.")
	}
	users, args, err := n.usersSQL(ctx, []string{req.GetFrom()})
	if err != nil {
		return nil, err
	}
	ids, err := pg.Collect(ctx, h.pool, pgx.RowTo[int64], `SELECT DISTINCT person_id FROM (`+users+`) AS named ORDER BY 1`, args...)
	if err != nil {
		return nil, fmt.Errorf("find the persons of %s: %w", n.table, err)
	}
	watch := clock.Start()
	for len(ids) > 0 {
		if watch.Elapsed() > renameTime {
			return &commonsv1.RenamePersonReferencesResponse{Incomplete: true}, nil
		}
		part := ids[:min(len(ids), personsPerChange)]
		ids = ids[len(part):]
		if err := h.renamePart(ctx, n, part, req.GetFrom(), req.GetTo()); err != nil {
			return nil, err
		}
	}
	if n.condition == "" {
		return &commonsv1.RenamePersonReferencesResponse{}, nil
	}
	return &commonsv1.RenamePersonReferencesResponse{}, pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		return search.RenameConditions(ctx, tx, n.condition, req.GetFrom(), req.GetTo())
	})
}

// renamePart changes the names in the data of persons. It starts again after conflicts.
func (h *Handler) renamePart(ctx context.Context, n naming, ids []int64, from, to string) (err error) {
	for range renameAttempts {
		err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error { return n.rename(ctx, tx, ids, from, to) })
		if !errors.Is(err, store.ErrStale) {
			return err
		}
	}
	return err
}

func (n naming) rename(ctx context.Context, tx pgx.Tx, ids []int64, from, to string) error {
	persons, err := store.Load(ctx, tx, ids)
	if err != nil {
		return err
	}
	var changes []store.Change
	var changed []int64
	for _, id := range ids {
		old := persons[id]
		if old == nil {
			continue
		}
		fresh := old.Clone()
		if !replaceNames(n.names(fresh), from, to) {
			continue
		}
		changed = append(changed, id)
		changes = append(changes, store.Change{Draft: &rules.Draft{Record: fresh, Zone: old.Zone, Zones: old.Zones}, ID: id, Old: old})
	}
	if len(changes) == 0 {
		return nil
	}
	if err := store.Write(ctx, tx, changes); err != nil {
		return err
	}
	states, err := store.ReadStates(ctx, tx, changed)
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, &commonsv1.PersonsChanged{Persons: states})
}

// replaceNames replaces the names that are equal without case, and reports whether one was another
// text.
func replaceNames(names []*string, from, to string) (changed bool) {
	for _, name := range names {
		if *name != to && strings.EqualFold(*name, from) {
			*name, changed = to, true
		}
	}
	return changed
}
