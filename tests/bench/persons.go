package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// personsACall are the most that one multi_upsert takes; every other one of
	// them is new.
	personsACall = 100
	callsARound  = 10
)

// personsFigure compares multi_upserts of persons over HTTPS with INSERTs of the
// rows that they leave behind, into copies of the tables, one INSERT for each
// table and one transaction for each call.
func personsFigure(h *host, o Options, p *premises) (figure, error) {
	f := figure{
		name: persons, unit: "persons/s", atLeast: 0.3,
		note: "multi_upsert of 100 persons, half of them new, against one INSERT of the same rows for each table",
	}
	baseline, err := newCopies(h.ctx, p.postgres(commonsDatabase))
	if err != nil {
		return f, err
	}
	defer baseline.conn.Close(context.WithoutCancel(h.ctx))
	calls := &upserts{api: p.api, company: p.company}
	samples, err := interleave(h.ctx, o.Rounds,
		func(ctx context.Context, _ int) (float64, error) { return calls.round(ctx) },
		func(ctx context.Context, _ int) (float64, error) { return baseline.round(ctx, calls.written) })
	if err == nil {
		f.measured, f.baseline = samples[0], samples[1]
	}
	return f, err
}

// upserts sends persons, other ones each time.
type upserts struct {
	api     scenario.API
	company *company
	used    int
	// written are the ids of the persons of the last round, by call.
	written [][]int64
}

func (u *upserts) round(ctx context.Context) (float64, error) {
	u.written = nil
	var took time.Duration
	for range callsARound {
		body := u.next()
		var created []struct {
			PersonIdentity struct{ PersonKey int64 }
		}
		began := time.Now()
		_, text, err := u.api.Bytes(ctx, http.MethodPost, "/v1/commons/persons/multi_upsert", body)
		took += time.Since(began)
		if err != nil {
			return 0, err
		}
		if err := json.Unmarshal(text, &created); err != nil || len(created) != personsACall {
			return 0, fmt.Errorf("%d persons are returned instead of %d: %w", len(created), personsACall, err)
		}
		ids := make([]int64, personsACall)
		for i, person := range created {
			ids[i] = person.PersonIdentity.PersonKey
		}
		u.written = append(u.written, ids)
	}
	return callsARound * personsACall / took.Seconds(), nil
}

// next makes persons who are there, with another name, wage and job from some
// day on, and new ones.
func (u *upserts) next() []scenario.Object {
	out := make([]scenario.Object, 0, personsACall)
	for range personsACall / 2 {
		u.used++
		known := scenario.Object{
			"personIdentity": scenario.Object{"personKey": u.company.id(u.used)},
			"personInformation": scenario.Object{"person": scenario.Object{
				"personNumber": u.company.numbered(u.used), "firstName": "Another", "lastName": fmt.Sprintf("Name%d", u.used), "hireDate": "2020-01-01",
			}},
			"jobAssignment": scenario.Object{
				"primaryLaborAccounts": []scenario.Object{{"organizationPath": u.company.path(u.used + 1), "effectiveDate": "2026-01-01"}},
				"baseWageRates":        []scenario.Object{{"hourlyRate": 42, "effectiveDate": "2026-01-01"}},
			},
		}
		number := fmt.Sprintf("%s-new-%d", u.company.name, u.used)
		fresh := u.company.typical(number, u.used)
		fresh["personIdentity"] = scenario.Object{"personNumber": number}
		out = append(out, known, fresh)
	}
	return out
}

// copies are copies of the tables of persons with all indexes and constraints,
// and with the rows of the tables.
type copies struct {
	conn *pgx.Conn
	// columns are those that rows are written with, in the order of personTables.
	columns [][]string
}

// newCopies makes copies of the tables in the database.
func newCopies(ctx context.Context, url string) (*copies, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	c := &copies{conn: conn}
	if _, err := conn.Exec(ctx, `CREATE SCHEMA baseline`); err != nil {
		return nil, err
	}
	for _, t := range personTables {
		columns, err := written(ctx, conn, t.table)
		if err != nil {
			return nil, err
		}
		c.columns = append(c.columns, columns)
		names := strings.Join(columns, ", ")
		for _, sql := range []string{
			`CREATE TABLE baseline.%[1]s (LIKE public.%[1]s INCLUDING ALL)`,
			// Others, so that those who are written come as new ones.
			`INSERT INTO baseline.%[1]s (%[2]s) SELECT %[3]s FROM public.%[1]s`,
			`ANALYZE baseline.%[1]s`,
		} {
			if _, err := conn.Exec(ctx, fmt.Sprintf(sql, t.table, names, elsewhere(columns))); err != nil {
				return nil, fmt.Errorf("a copy of %s: %w", t.table, err)
			}
		}
	}
	return c, nil
}

// elsewhere selects rows as another tenant's.
func elsewhere(columns []string) string {
	out := make([]string, len(columns))
	for i, column := range columns {
		if out[i] = column; column == "tenant_id" {
			out[i] = fmt.Sprint(int64(math.MaxInt32))
		}
	}
	return strings.Join(out, ", ")
}

func (c *copies) round(ctx context.Context, calls [][]int64) (float64, error) {
	var took time.Duration
	for _, ids := range calls {
		statements, err := c.inserts(ctx, ids)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		_, err = c.conn.PgConn().Exec(ctx, strings.Join(statements, ";\n")).ReadAll()
		took += time.Since(began)
		if err != nil {
			return 0, fmt.Errorf("insert the same rows: %w", err)
		}
	}
	return float64(len(calls)*personsACall) / took.Seconds(), nil
}

// inserts returns the INSERTs of the rows that persons have. Sent at once they
// are one transaction.
func (c *copies) inserts(ctx context.Context, ids []int64) ([]string, error) {
	var out []string
	for i, t := range personTables {
		literals := make([]string, len(c.columns[i]))
		for k, column := range c.columns[i] {
			literals[k] = "quote_nullable(" + column + ")"
		}
		var values *string
		err := c.conn.QueryRow(ctx, fmt.Sprintf(`SELECT string_agg('(' || concat_ws(', ', %s) || ')', ', ') FROM public.%s WHERE %s = ANY($1)`,
			strings.Join(literals, ", "), t.table, t.person), ids).Scan(&values)
		if err != nil {
			return nil, err
		}
		if values == nil {
			return nil, fmt.Errorf("the persons have no rows in %s", t.table)
		}
		out = append(out, fmt.Sprintf("INSERT INTO baseline.%s (%s) VALUES %s", t.table, strings.Join(c.columns[i], ", "), *values))
	}
	return out, nil
}
