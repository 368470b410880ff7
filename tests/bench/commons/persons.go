package commons

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// personsPerCall is the limit of one multi_upsert; every second person is new.
	personsPerCall = 100
	callsPerRound  = 10
)

// personsFigure compares multi_upserts of persons over HTTPS with INSERTs of the resulting rows
// into copies of the tables: one INSERT for each table, and one transaction for each call.
func personsFigure(h *harness.Host, o harness.Options, p *companyServer) (harness.Figure, error) {
	f := harness.Figure{
		Name: persons, Unit: "persons/s", AtLeast: 0.3,
		Note: "multi_upsert of 100 persons, half of them new, against one INSERT of the same rows for each table",
	}
	baseline, err := newTableCopies(h.Context(), p.postgres(fixture.CommonsDatabase))
	if err != nil {
		return f, err
	}
	defer baseline.conn.Close(context.WithoutCancel(h.Context()))
	calls := &upserts{api: p.api, company: p.company}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		func(ctx context.Context, _ int) (float64, error) { return calls.round(ctx) },
		func(ctx context.Context, _ int) (float64, error) { return baseline.round(ctx, calls.written) })
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

// upserts sends different persons each time.
type upserts struct {
	api     scenario.API
	company *fixture.Company
	used    int
	// written holds the ids of the persons of the last round, by call.
	written [][]int64
}

func (u *upserts) round(ctx context.Context) (float64, error) {
	u.written = nil
	var took time.Duration
	for range callsPerRound {
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
		if err := json.Unmarshal(text, &created); err != nil || len(created) != personsPerCall {
			return 0, fmt.Errorf("%d persons are returned instead of %d: %w", len(created), personsPerCall, err)
		}
		ids := make([]int64, personsPerCall)
		for i, person := range created {
			ids[i] = person.PersonIdentity.PersonKey
		}
		u.written = append(u.written, ids)
	}
	return callsPerRound * personsPerCall / took.Seconds(), nil
}

// next returns existing persons with a new name, and a new wage and job from some day on, and new
// persons.
func (u *upserts) next() []scenario.Object {
	out := make([]scenario.Object, 0, personsPerCall)
	for range personsPerCall / 2 {
		u.used++
		known := scenario.Object{
			"personIdentity": scenario.Object{"personKey": u.company.ID(u.used)},
			"personInformation": scenario.Object{"person": scenario.Object{
				"personNumber": u.company.PersonNumber(u.used), "firstName": "Another", "lastName": fmt.Sprintf("Name%d", u.used), "hireDate": "2020-01-01",
			}},
			"jobAssignment": scenario.Object{
				"primaryLaborAccounts": []scenario.Object{{"organizationPath": u.company.Path(u.used + 1), "effectiveDate": "2026-01-01"}},
				"baseWageRates":        []scenario.Object{{"hourlyRate": 42, "effectiveDate": "2026-01-01"}},
			},
		}
		number := fmt.Sprintf("%s-new-%d", u.company.Name, u.used)
		fresh := u.company.Typical(number, u.used)
		fresh["personIdentity"] = scenario.Object{"personNumber": number}
		out = append(out, known, fresh)
	}
	return out
}

// tableCopies are copies of the tables of persons with all indexes, constraints and rows.
type tableCopies struct {
	conn *pgx.Conn
	// columns are the writable columns, in the order of PersonTables.
	columns [][]string
}

// newTableCopies creates copies of the tables in the database.
func newTableCopies(ctx context.Context, url string) (*tableCopies, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	c := &tableCopies{conn: conn}
	if _, err := conn.Exec(ctx, `CREATE SCHEMA baseline`); err != nil {
		return nil, err
	}
	for _, t := range fixture.PersonTables {
		columns, err := fixture.WritableColumns(ctx, conn, t.Table)
		if err != nil {
			return nil, err
		}
		c.columns = append(c.columns, columns)
		names := strings.Join(columns, ", ")
		for _, sql := range []string{
			`CREATE TABLE baseline.%[1]s (LIKE public.%[1]s INCLUDING ALL)`,
			// Rows of another tenant, so that the persons written later are new.
			`INSERT INTO baseline.%[1]s (%[2]s) SELECT %[3]s FROM public.%[1]s`,
			`ANALYZE baseline.%[1]s`,
		} {
			if _, err := conn.Exec(ctx, fmt.Sprintf(sql, t.Table, names, elsewhere(columns))); err != nil {
				return nil, fmt.Errorf("a copy of %s: %w", t.Table, err)
			}
		}
	}
	return c, nil
}

// elsewhere returns a select list that assigns rows to another tenant.
func elsewhere(columns []string) string {
	out := make([]string, len(columns))
	for i, column := range columns {
		if out[i] = column; column == "tenant_id" {
			out[i] = fmt.Sprint(int64(math.MaxInt32))
		}
	}
	return strings.Join(out, ", ")
}

func (c *tableCopies) round(ctx context.Context, calls [][]int64) (float64, error) {
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
	return float64(len(calls)*personsPerCall) / took.Seconds(), nil
}

// inserts returns the INSERTs of the rows of persons. Sent in one message, they are one
// transaction.
func (c *tableCopies) inserts(ctx context.Context, ids []int64) ([]string, error) {
	var out []string
	for i, t := range fixture.PersonTables {
		literals := make([]string, len(c.columns[i]))
		for k, column := range c.columns[i] {
			literals[k] = "quote_nullable(" + column + ")"
		}
		var values *string
		err := c.conn.QueryRow(ctx, fmt.Sprintf(`SELECT string_agg('(' || concat_ws(', ', %s) || ')', ', ') FROM public.%s WHERE %s = ANY($1)`,
			strings.Join(literals, ", "), t.Table, t.Person), ids).Scan(&values)
		if err != nil {
			return nil, err
		}
		if values == nil {
			return nil, fmt.Errorf("the persons have no rows in %s", t.Table)
		}
		out = append(out, fmt.Sprintf("INSERT INTO baseline.%s (%s) VALUES %s", t.Table, strings.Join(c.columns[i], ", "), *values))
	}
	return out, nil
}
