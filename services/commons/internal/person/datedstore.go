package person

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// datedColumns are the rows of an effective-dated table, column by column.
type datedColumns struct {
	persons  []int64
	from, to []time.Time
	values   []any
}

// datedTable is the way of an effective-dated list into its table and back.
type datedTable struct {
	insert  string
	collect func([]newPerson) datedColumns
	// read selects the rows of one person, in order; scan adds one of them.
	read string
	scan func(row pgx.CollectableRow, into *commonsv1.Person) error
}

// datedTables are all of them.
var datedTables = []datedTable{
	{
		insert: `INSERT INTO employment_status (tenant_id, person_id, from_date, to_date, status)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::date[], $4::date[], $5::text[]) AS q`,
		collect: func(persons []newPerson) datedColumns {
			var c datedColumns
			var names []string
			for _, p := range persons {
				for _, s := range p.person.GetPersonInformation().GetEmploymentStatusList() {
					c.add(p.id, s.GetEffectiveDate(), s.GetExpirationDate())
					names = append(names, s.GetEmploymentStatusName())
				}
			}
			c.values = []any{names}
			return c
		},
		read: `SELECT from_date, to_date, status FROM employment_status
			WHERE tenant_id = $1 AND person_id = $2 ORDER BY from_date`,
		scan: func(row pgx.CollectableRow, into *commonsv1.Person) error {
			var s commonsv1.EmploymentStatus
			err := scanDated(row, &s.EffectiveDate, &s.ExpirationDate, &s.EmploymentStatusName)
			into.PersonInformation.EmploymentStatusList = append(into.PersonInformation.EmploymentStatusList, &s)
			return err
		},
	},
	{
		insert: `INSERT INTO user_account_status (tenant_id, person_id, from_date, to_date, status)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::date[], $4::date[], $5::text[]) AS q`,
		collect: func(persons []newPerson) datedColumns {
			var c datedColumns
			var names []string
			for _, p := range persons {
				for _, s := range p.person.GetPersonInformation().GetUserAccountStatusList() {
					c.add(p.id, s.GetEffectiveDate(), s.GetExpirationDate())
					names = append(names, s.GetUserAccountStatusName())
				}
			}
			c.values = []any{names}
			return c
		},
		read: `SELECT from_date, to_date, status FROM user_account_status
			WHERE tenant_id = $1 AND person_id = $2 ORDER BY from_date`,
		scan: func(row pgx.CollectableRow, into *commonsv1.Person) error {
			var s commonsv1.UserAccountStatus
			err := scanDated(row, &s.EffectiveDate, &s.ExpirationDate, &s.UserAccountStatusName)
			into.PersonInformation.UserAccountStatusList = append(into.PersonInformation.UserAccountStatusList, &s)
			return err
		},
	},
	{
		insert: `INSERT INTO badge_assignment (tenant_id, person_id, from_date, to_date, badge_number)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::date[], $4::date[], $5::text[]) AS q`,
		collect: func(persons []newPerson) datedColumns {
			var c datedColumns
			var numbers []string
			for _, p := range persons {
				for _, b := range p.person.GetPersonInformation().GetBadgeAssignments() {
					c.add(p.id, b.GetEffectiveDate(), b.GetExpirationDate())
					numbers = append(numbers, b.GetBadgeNumber())
				}
			}
			c.values = []any{numbers}
			return c
		},
		read: `SELECT from_date, to_date, badge_number FROM badge_assignment
			WHERE tenant_id = $1 AND person_id = $2 ORDER BY from_date, badge_number`,
		scan: func(row pgx.CollectableRow, into *commonsv1.Person) error {
			var b commonsv1.BadgeAssignment
			err := scanDated(row, &b.EffectiveDate, &b.ExpirationDate, &b.BadgeNumber)
			into.PersonInformation.BadgeAssignments = append(into.PersonInformation.BadgeAssignments, &b)
			return err
		},
	},
	{
		insert: `INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::date[], $4::date[], $5::text[], $6::text[]) AS q`,
		collect: func(persons []newPerson) datedColumns {
			var c datedColumns
			var paths, categories []string
			for _, p := range persons {
				for _, a := range p.person.GetJobAssignment().GetPrimaryLaborAccounts() {
					c.add(p.id, a.GetEffectiveDate(), a.GetExpirationDate())
					paths, categories = append(paths, a.GetOrganizationPath()), append(categories, a.GetLaborCategoryName())
				}
			}
			c.values = []any{paths, categories}
			return c
		},
		read: `SELECT from_date, to_date, organization_path, labor_category_name FROM primary_labor_account
			WHERE tenant_id = $1 AND person_id = $2 ORDER BY from_date`,
		scan: func(row pgx.CollectableRow, into *commonsv1.Person) error {
			var a commonsv1.PrimaryLaborAccount
			err := scanDated(row, &a.EffectiveDate, &a.ExpirationDate, &a.OrganizationPath, &a.LaborCategoryName)
			into.JobAssignment.PrimaryLaborAccounts = append(into.JobAssignment.PrimaryLaborAccounts, &a)
			return err
		},
	},
	{
		insert: `INSERT INTO base_wage_rate (tenant_id, person_id, from_date, to_date, hourly_rate)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::date[], $4::date[], $5::float8[]) AS q`,
		collect: func(persons []newPerson) datedColumns {
			var c datedColumns
			var rates []float64
			for _, p := range persons {
				for _, w := range p.person.GetJobAssignment().GetBaseWageRates() {
					c.add(p.id, w.GetEffectiveDate(), w.GetExpirationDate())
					rates = append(rates, w.GetHourlyRate())
				}
			}
			c.values = []any{rates}
			return c
		},
		read: `SELECT from_date, to_date, hourly_rate FROM base_wage_rate
			WHERE tenant_id = $1 AND person_id = $2 ORDER BY from_date`,
		scan: func(row pgx.CollectableRow, into *commonsv1.Person) error {
			var w commonsv1.BaseWageRate
			err := scanDated(row, &w.EffectiveDate, &w.ExpirationDate, &w.HourlyRate)
			into.JobAssignment.BaseWageRates = append(into.JobAssignment.BaseWageRates, &w)
			return err
		},
	},
}

// add adds the key of a row. The dates have passed the rules.
func (c *datedColumns) add(personID int64, effective, expiration string) {
	from, to := civil.Beginning, civil.Forever
	if day, err := civil.ParseDate(effective); err == nil {
		from = day
	}
	if day, err := civil.ParseDate(expiration); err == nil {
		to = day
	}
	c.persons = append(c.persons, personID)
	c.from, c.to = append(c.from, from.Time()), append(c.to, to.Time())
}

func scanDated(row pgx.CollectableRow, effective, expiration *string, values ...any) error {
	var from, to time.Time
	if err := row.Scan(append([]any{&from, &to}, values...)...); err != nil {
		return err
	}
	*effective, *expiration = civil.FromTime(from).String(), civil.FromTime(to).String()
	return nil
}

// read answers everything that is known of a person.
func read(ctx context.Context, db pg.Querier, tenantID, id int64) (*commonsv1.Person, error) {
	batch := &pgx.Batch{}
	batch.Queue(`SELECT body FROM person WHERE tenant_id = $1 AND id = $2`, tenantID, id)
	for _, table := range datedTables {
		batch.Queue(table.read, tenantID, id)
	}
	results := db.SendBatch(ctx, batch)
	p, err := readBatch(results, id)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return p, err
}

func readBatch(results pgx.BatchResults, id int64) (*commonsv1.Person, error) {
	var body []byte
	err := results.QueryRow().Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound(CodeUnknown, fmt.Sprintf("There is no person with the id %d.", id))
	}
	if err != nil {
		return nil, err
	}
	p := &commonsv1.Person{}
	if err := proto.Unmarshal(body, p); err != nil {
		return nil, fmt.Errorf("decode person %d: %w", id, err)
	}
	if p.JobAssignment == nil {
		p.JobAssignment = &commonsv1.JobAssignment{}
	}
	for _, table := range datedTables {
		rows, err := results.Query()
		if err != nil {
			return nil, err
		}
		_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
			return struct{}{}, table.scan(row, p)
		})
		if err != nil {
			return nil, fmt.Errorf("read effective-dated parts of person %d: %w", id, err)
		}
	}
	if proto.Size(p.JobAssignment) == 0 {
		p.JobAssignment = nil
	}
	p.PersonIdentity = identity(id, p.GetPersonInformation().GetPerson().GetPersonNumber())
	return p, nil
}

// identity is how answers name a person.
func identity(id int64, number string) *commonsv1.PersonIdentity {
	return &commonsv1.PersonIdentity{PersonKey: &id, PersonNumber: &number}
}
