package commons

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	HyperfindPath = "/v1/commons/hyperfind/execute"
	// ActivePersons is half of the company.
	ActivePersons = fixture.Persons / 2
)

// ActivePersonsRequest returns a request for all active persons with a primary job, by the query
// that every tenant has.
func ActivePersonsRequest() scenario.Object {
	return scenario.Object{
		"hyperfind": scenario.Object{"id": 1}, "threshold": ActivePersons,
		"dateRange": scenario.Object{"startDate": fixture.ReadFirst, "endDate": fixture.ReadLast},
	}
}

// hyperfindFigure compares a hyperfind that finds half of the company with its statement in psql,
// which discards the rows.
func hyperfindFigure(h *harness.Host, o harness.Options, p *companyServer) (harness.Figure, error) {
	f := harness.Figure{Name: hyperfind, Unit: "ms", AtMost: 2, Note: "p50; 50,000 of 100,000 persons over HTTPS, against psql with the same statement"}
	product, err := harness.Post(p.api, HyperfindPath, ActivePersonsRequest())
	if err != nil {
		return f, err
	}
	if err := product.Read(h.Context()); err != nil {
		return f, err
	}
	var found struct {
		Count  int
		Result struct{ Refs, BasePersons []json.RawMessage }
	}
	if err := json.Unmarshal(product.Received.Bytes(), &found); err != nil {
		return f, err
	}
	if found.Count != ActivePersons || len(found.Result.Refs) != ActivePersons || len(found.Result.BasePersons) != ActivePersons {
		return f, fmt.Errorf("a hyperfind finds %d persons and returns %d refs and %d persons instead of %d of each",
			found.Count, len(found.Result.Refs), len(found.Result.BasePersons), ActivePersons)
	}
	baseline := newPsql(p.postgres(fixture.CommonsDatabase), p.company, p.hyperfindSQL)
	if lines, err := baseline.run(h.Context(), true); err != nil || lines != ActivePersons {
		return f, fmt.Errorf("psql prints %d persons instead of %d: %w", lines, ActivePersons, err)
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		harness.P50(product.Read),
		harness.P50(func(ctx context.Context) error { _, err := baseline.run(ctx, false); return err }))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

// psql runs the statement of the hyperfind.
type psql struct{ args []string }

// newPsql prepares a statement with the role and the settings of commons.
func newPsql(url string, c *fixture.Company, sql string) *psql {
	p := &psql{args: []string{"--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1", url}}
	for _, command := range []string{
		"SET ROLE " + localpg.Role,
		fmt.Sprintf("SET rotaloom.tenant_id = '%d'", c.Tenant),
		"SET jit = off", "SET random_page_cost = 1.1",
		"PREPARE hyperfind AS " + sql,
		// The days, the day after them, their last day, and the status.
		fmt.Sprintf("EXECUTE hyperfind ('%d', '%s', '2026-03-31', '%s', '{Active}')", c.Tenant, fixture.ReadFirst, fixture.ReadLast),
	} {
		p.args = append(p.args, "--command", command)
	}
	return p
}

// run runs psql. It counts the output lines if count is set; otherwise it discards them.
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
