package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	hyperfindPath = "/v1/commons/hyperfind/execute"
	// foundPersons are half of the company.
	foundPersons = companyPersons / 2
)

// everybodyActive asks for all who are active and have a primary job, by the
// query that every tenant has.
func everybodyActive() scenario.Object {
	return scenario.Object{
		"hyperfind": scenario.Object{"id": 1}, "threshold": foundPersons,
		"dateRange": scenario.Object{"startDate": readFirst, "endDate": readLast},
	}
}

// post makes a reader of one operation.
func post(api scenario.API, path string, body scenario.Object) (*reader, error) {
	text, err := json.Marshal(body)
	return &reader{client: api.Client, url: api.BaseURL + path, token: api.Token, body: text}, err
}

// hyperfindFigure compares a hyperfind that finds half of the company with the
// statement that it runs, run by psql, which prints the rows into nothing.
func hyperfindFigure(h *host, o Options, p *premises) (figure, error) {
	f := figure{name: hyperfind, unit: "ms", atMost: 2, note: "p50; 50,000 of 100,000 persons over HTTPS, against psql with the same statement"}
	product, err := post(p.api, hyperfindPath, everybodyActive())
	if err != nil {
		return f, err
	}
	if err := product.read(h.ctx); err != nil {
		return f, err
	}
	var found struct {
		Count  int
		Result struct{ Refs, BasePersons []json.RawMessage }
	}
	if err := json.Unmarshal(product.received.Bytes(), &found); err != nil {
		return f, err
	}
	if found.Count != foundPersons || len(found.Result.Refs) != foundPersons || len(found.Result.BasePersons) != foundPersons {
		return f, fmt.Errorf("a hyperfind finds %d persons and returns %d refs and %d persons instead of %d of each",
			found.Count, len(found.Result.Refs), len(found.Result.BasePersons), foundPersons)
	}
	baseline, err := newPsql(h.ctx, p.postgres(commonsDatabase), p.company)
	if err != nil {
		return f, err
	}
	if lines, err := baseline.run(h.ctx, true); err != nil || lines != foundPersons {
		return f, fmt.Errorf("psql prints %d persons instead of %d: %w", lines, foundPersons, err)
	}
	samples, err := interleave(h.ctx, o.Rounds,
		p50(product.read),
		p50(func(ctx context.Context) error { _, err := baseline.run(ctx, false); return err }))
	if err == nil {
		f.measured, f.baseline = samples[0], samples[1]
	}
	return f, err
}

// p50 measures something several times, and returns the median in milliseconds.
func p50(do func(context.Context) error) measure {
	return func(ctx context.Context, _ int) (float64, error) {
		var times sample
		for range readsARound {
			began := time.Now()
			if err := do(ctx); err != nil {
				return 0, err
			}
			times = append(times, milliseconds(time.Since(began)))
		}
		return times.median(), nil
	}
}

// psql runs the statement of the hyperfind.
type psql struct{ args []string }

// newPsql takes over the statement that commons ran last to find persons, with
// the role and the settings that it ran with.
func newPsql(ctx context.Context, url string, c *company) (*psql, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	var sql string
	err = conn.QueryRow(ctx, `SELECT query FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%FROM person p WHERE%ORDER BY p.id LIMIT%'
		ORDER BY query_start DESC LIMIT 1`).Scan(&sql)
	if err != nil {
		return nil, fmt.Errorf("the statement of a hyperfind: %w", err)
	}
	p := &psql{args: []string{"--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1", url}}
	for _, command := range []string{
		"SET ROLE " + localpg.Role,
		fmt.Sprintf("SET rotaloom.tenant_id = '%d'", c.tenant),
		"SET jit = off", "SET random_page_cost = 1.1",
		"PREPARE hyperfind AS " + sql,
		// The days, the day after them, their last, and the status.
		fmt.Sprintf("EXECUTE hyperfind ('%d', '%s', '2026-03-31', '%s', '{Active}')", c.tenant, readFirst, readLast),
	} {
		p.args = append(p.args, "--command", command)
	}
	return p, nil
}

// run runs psql. It counts the lines when it is asked to; otherwise they go
// nowhere.
func (p *psql) run(ctx context.Context, count bool) (int, error) {
	var lines, errs bytes.Buffer
	c := exec.CommandContext(ctx, "psql", p.args...)
	c.Stderr = &errs
	if count {
		c.Stdout = &lines
	}
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("psql: %w: %s", err, strings.TrimSpace(errs.String()))
	}
	return bytes.Count(lines.Bytes(), []byte("\n")), nil
}
