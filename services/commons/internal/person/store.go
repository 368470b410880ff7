package person

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// newPerson is a draft that has its id.
type newPerson struct {
	*draft
	id int64
}

// state is what other domains keep of the person.
func (p newPerson) state() *commonsv1.PersonState {
	return &commonsv1.PersonState{
		PersonId:     p.id,
		PersonNumber: p.number(),
		FullName:     p.details().GetFullName(),
		TimeZone:     p.zone,
		Version:      1,
		HireDate:     p.details().GetHireDate(),
	}
}

// newIDs takes ids for new persons. An id that is not used is lost.
func newIDs(ctx context.Context, db pg.Querier, n int) ([]int64, error) {
	rows, err := db.Query(ctx, `SELECT nextval('person_id') FROM generate_series(1, $1)`, n)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("take person ids: %w", err)
	}
	return ids, nil
}

// taken answers which of the person numbers belong to somebody.
func taken(ctx context.Context, db pg.Querier, tenantID int64, numbers []string) (map[string]bool, error) {
	rows, err := db.Query(ctx, `SELECT person_number FROM person
		WHERE tenant_id = $1 AND person_number = ANY($2)`, tenantID, numbers)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	var number string
	if _, err := pgx.ForEachRow(rows, []any{&number}, func() error {
		out[number] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look for person numbers: %w", err)
	}
	return out, nil
}

// insertPersons stores persons and answers the ids of those that are now
// there. One whose number somebody took in the meantime is missing.
func insertPersons(ctx context.Context, db pg.Querier, tenantID int64, persons []newPerson) (map[int64]bool, error) {
	var (
		ids                   []int64
		numbers, names, zones []string
		hired                 []*time.Time
		bodies                [][]byte
	)
	for _, p := range persons {
		body, err := proto.MarshalOptions{Deterministic: true}.Marshal(stored(p.person))
		if err != nil {
			return nil, fmt.Errorf("encode person: %w", err)
		}
		ids, numbers = append(ids, p.id), append(numbers, p.number())
		names, zones = append(names, p.details().GetFullName()), append(zones, p.zone)
		hired, bodies = append(hired, dateOrNull(p.details().GetHireDate())), append(bodies, body)
	}
	// In the order of the numbers, so that two who store the same persons at
	// once do not wait for each other in a circle.
	rows, err := db.Query(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, hire_date, body)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::date[], $7::bytea[])
			AS q (id, number, name, zone, hired, body)
		ORDER BY q.number
		ON CONFLICT (tenant_id, person_number) DO NOTHING RETURNING id`,
		tenantID, ids, numbers, names, zones, hired, bodies)
	if err != nil {
		return nil, err
	}
	done := make(map[int64]bool, len(persons))
	var id int64
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error {
		done[id] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("store persons: %w", err)
	}
	return done, nil
}

// stored answers what the body of a person's row holds: the message without
// what is computed or lies in tables of its own.
func stored(p *commonsv1.Person) *commonsv1.Person {
	out := proto.CloneOf(p)
	out.PersonIdentity = nil
	info := out.GetPersonInformation()
	info.EmploymentStatusList, info.UserAccountStatusList, info.BadgeAssignments = nil, nil, nil
	if job := out.GetJobAssignment(); job != nil {
		job.PrimaryLaborAccounts, job.BaseWageRates = nil, nil
	}
	return out
}

func dateOrNull(text string) *time.Time {
	day, err := civil.ParseDate(text)
	if err != nil {
		return nil
	}
	t := day.Time()
	return &t
}

// insertDated stores the effective-dated parts of persons who have none yet.
func insertDated(ctx context.Context, tx pgx.Tx, tenantID int64, persons []newPerson) error {
	batch := &pgx.Batch{}
	for _, table := range datedTables {
		columns := table.collect(persons)
		if len(columns.persons) > 0 {
			batch.Queue(table.insert, append([]any{tenantID, columns.persons, columns.from, columns.to}, columns.values...)...)
		}
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store effective-dated parts: %w", err)
	}
	return nil
}
