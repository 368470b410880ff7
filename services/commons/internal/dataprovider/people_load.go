package dataprovider

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// personColumns are the columns with a person's texts, in the order of the text constants.
const personColumns = `p.first_name, p.last_name, p.middle_initial, p.short_name, p.time_zone, p.worker_type_name,
	p.supervisor_person_number, p.schedule_group_name, p.device_group_name, p.user_name, p.logon_profile_name,
	p.access_profile_name, p.preference_profile_name, p.notification_profile_name, p.locale_policy_name,
	p.delegate_profile_name, p.aoid, p.coid`

// list is a table with dated values of persons.
type list struct {
	need  uint64
	table string
	// from and to are the columns of the days; texts and amount are the columns of the values.
	from, to, amount string
	texts            []string
	of               func(*person) *[]dated
}

// lists returns the tables that elements of PEOPLE read.
func lists() []list {
	of := func(need uint64, table string, at func(*person) *[]dated, texts ...string) list {
		return list{need: need, table: table, from: "from_date", to: "to_date", amount: "0::float8", texts: texts, of: at}
	}
	// always gives a list without dates a range that covers all days.
	always := func(l list) list {
		l.from, l.to = "'1900-01-01'::date", "'3000-01-01'::date"
		return l
	}
	wage := of(needWage, "base_wage_rate", func(p *person) *[]dated { return &p.wage })
	wage.amount = "hourly_rate"
	custom := of(needCustomDate, "custom_date", func(p *person) *[]dated { return &p.customDate }, "type_name")
	custom.from, custom.to = "date", "date + 1"
	signoff := of(needSignoff, "timecard_signoff", func(p *person) *[]dated { return &p.signedOff })
	signoff.from, signoff.to = "through", "through + 1"
	return []list{
		of(needStatus, "employment_status", func(p *person) *[]dated { return &p.status }, "status"),
		of(needAccount, "user_account_status", func(p *person) *[]dated { return &p.account }, "status"),
		of(needLabor, "primary_labor_account", func(p *person) *[]dated { return &p.labor }, "organization_path", "labor_category_name"),
		wage,
		of(needBadge, "badge_assignment", func(p *person) *[]dated { return &p.badge }, "badge_number"),
		of(needPayRule, "pay_rule_assignment", func(p *person) *[]dated { return &p.payRule }, "pay_rule_name"),
		of(needAccrual, "accrual_profile_assignment", func(p *person) *[]dated { return &p.accrual }, "accrual_profile_name"),
		of(needTimeEntry, "time_entry_method", func(p *person) *[]dated { return &p.timeEntry }, "time_entry_type_name"),
		of(needAccess, "person_access_assignment", func(p *person) *[]dated { return &p.access }, "home_hyper_find_query_name",
			"manager_employee_group_name", "manager_transfer_set_name", "professional_transfer_set_name", "emp_mgr_transfer_set_name"),
		of(needGroups, "gdap_assignment", func(p *person) *[]dated { return &p.groups }, "gdap_name"),
		always(of(needCustomData, "custom_data", func(p *person) *[]dated { return &p.customData }, "type_name", "text")),
		custom,
		always(of(needEmail, "email_address", func(p *person) *[]dated { return &p.email }, "contact_type_name", "address")),
		signoff,
		of(needJob, primaryJobs, func(p *person) *[]dated { return &p.job }, "code", "description", "display_order"),
		of(needCostCenter, primaryPlaces, func(p *person) *[]dated { return &p.costCenter }, "body"),
	}
}

// primaryPlaces selects the locations of primary jobs, with one row for each version. body is
// a rotaloom.commons.v1.Location in base64.
const primaryPlaces = `(SELECT a.tenant_id, a.person_id, greatest(a.from_date, p.from_date, v.from_date) AS from_date,
		least(a.to_date, p.to_date, v.to_date) AS to_date, v.job_id, encode(v.body, 'base64') AS body
	FROM primary_labor_account a
	JOIN location_path p ON p.tenant_id = a.tenant_id AND p.path = a.organization_path AND p.from_date < a.to_date AND p.to_date > a.from_date
	JOIN location_version v ON v.tenant_id = p.tenant_id AND v.location_id = p.location_id
		AND v.from_date < least(a.to_date, p.to_date) AND v.to_date > greatest(a.from_date, p.from_date)) AS place`

// primaryJobs selects the jobs that are assigned to these locations.
const primaryJobs = `(SELECT place.tenant_id, place.person_id, greatest(place.from_date, j.from_date) AS from_date,
		least(place.to_date, j.to_date) AS to_date, j.code, j.description, j.display_order
	FROM ` + primaryPlaces + `
	JOIN job_version j ON j.tenant_id = place.tenant_id AND j.job_id = place.job_id
		AND j.from_date < place.to_date AND j.to_date > place.from_date) AS job`

// sql returns a query that reads the list for persons, from day $3 up to but not including
// day $4.
func (l list) sql() string {
	days := " AND from_date < $4 AND to_date > $3"
	if l.from != "from_date" {
		days = " AND $3::date IS NOT NULL AND $4::date IS NOT NULL"
	}
	columns := append([]string{"person_id", l.from, l.to, l.amount}, l.texts...)
	return fmt.Sprintf(`SELECT %s FROM %s WHERE tenant_id = $1 AND person_id = ANY($2)%s ORDER BY person_id, 2, %d`,
		strings.Join(columns, ", "), l.table, days, min(len(columns), 5))
}

func personSQL(needs uint64) string {
	body, manager, join := "NULL::bytea", "NULL::text", ""
	if needs&needBody != 0 {
		body = "p.body"
	}
	if needs&needManager != 0 {
		manager = "m.full_name"
		join = ` LEFT JOIN person m ON m.tenant_id = p.tenant_id AND m.person_number = p.supervisor_person_number AND p.supervisor_person_number <> ''`
	}
	return `SELECT p.id, p.person_number, p.full_name, p.hire_date, p.birth_date,
		p.seniority_rank_date, ` + body + `, ` + manager + `, ` + personColumns + `
		FROM person p` + join + ` WHERE p.tenant_id = $1 AND p.id = ANY($2)`
}

// manyPeople is the minimum number of persons for a read over two connections: for so many
// persons, reading takes longer than computing the elements.
const manyPeople = 100

// personLoader reads any number of persons from one snapshot.
type personLoader struct{ pool *pg.Pool }

func (l personLoader) load(ctx context.Context, ids []int64, days civil.Range, needs uint64) ([]*person, error) {
	tenantID := tenant.Of(ctx)
	c := newPersonBatch(ids)
	snapshots := []*pg.Snapshot{{}, {}}
	if len(ids) < manyPeople {
		snapshots[1] = snapshots[0]
	}
	snapshots[0].Queue(c.scan, personSQL(needs), tenantID, ids)
	next := 1
	for _, list := range lists() {
		if needs&list.need != 0 {
			snapshots[next%2].Queue(func(rows pgx.Rows) error { return list.scan(rows, c) },
				list.sql(), tenantID, ids, days.From, days.To)
			next++
		}
	}

	var err error
	if len(ids) < manyPeople {
		err = snapshots[0].Read(ctx, l.pool)
	} else {
		err = pg.ReadPair(ctx, l.pool, snapshots[0], snapshots[1])
	}
	if err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	return c.people(), nil
}

// personBatch holds persons while they are read. Rows and lists can be read concurrently,
// because each reader sets fields of its own.
type personBatch struct {
	ids     []int64
	at      map[int64]*person
	persons []person
}

func newPersonBatch(ids []int64) *personBatch {
	c := &personBatch{ids: ids, at: make(map[int64]*person, len(ids)), persons: make([]person, len(ids))}
	for i, id := range ids {
		if c.at[id] == nil {
			c.at[id] = &c.persons[i]
		}
	}
	return c
}

// people returns the persons that have a row, in the order of the request.
func (c *personBatch) people() []*person {
	out := make([]*person, len(c.ids))
	for i, id := range c.ids {
		if p := c.at[id]; p.id != 0 {
			out[i] = p
		}
	}
	return out
}

func (c *personBatch) scan(rows pgx.Rows) error {
	var row person
	var body []byte
	places := []any{&row.id, &row.number, &row.fullName, &row.hireDate, &row.birthDate, &row.seniorityDate, &body, &row.managerName}
	for i := range row.texts {
		places = append(places, &row.texts[i])
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		p := c.at[row.id]
		p.id, p.number, p.fullName, p.managerName, p.texts = row.id, row.number, row.fullName, row.managerName, row.texts
		p.hireDate, p.birthDate, p.seniorityDate = row.hireDate, row.birthDate, row.seniorityDate
		if len(body) == 0 {
			continue
		}
		p.body = &commonsv1.Person{}
		if err := proto.Unmarshal(body, p.body); err != nil {
			return fmt.Errorf("person %d: %w", p.id, err)
		}
		adoptFullTime(p)
	}
	return rows.Err()
}

func (l list) scan(rows pgx.Rows, c *personBatch) error {
	var id int64
	var d dated
	places := []any{&id, &d.days.From, &d.days.To, &d.amount}
	for i := range l.texts {
		places = append(places, &d.texts[i])
	}
	_, err := pgx.ForEachRow(rows, places, func() error {
		into := l.of(c.at[id])
		*into = append(*into, d)
		return nil
	})
	return err
}
