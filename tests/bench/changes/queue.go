package changes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	wal           = "wal"
	overtaken     = "overtaken"
	otherTenant   = "other-tenant"
	amongMany     = "among-many"
	millionChange = "million"
)

// Groups are the figures of this package, in the order of the table.
var Groups = []harness.Group{
	{Names: []string{wal, overtaken, undo, otherTenant, amongMany}, Run: queueFigures},
	{Names: []string{millionChange}, Run: millionFigures},
	{Names: []string{propagators}, Run: propagatorsFigure},
	{Names: []string{previewMemory}, Run: previewMemoryFigure},
}

const (
	fewEmployees  = 10
	manyEmployees = 10_000
	queuedChanges = 20
	// otherSpans is the number of existing spans of the tenant with a small change.
	otherSpans = 1_100_000
	million    = 1_000_000
)

// seededServer is a standalone process with tenants whose employees are seeded.
type seededServer struct {
	server *launch.Server
	admin  *pgx.Conn
	// large and small are tenants.
	large, small fixture.Tenant
}

func newSeededServer(h *harness.Host, o harness.Options) (*seededServer, error) {
	c := &seededServer{server: launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)}
	var err error
	if c.admin, err = pgx.Connect(h.Context(), launch.PrivatePostgres(c.server.StateDir)(fixture.SchedulingDatabase)); err != nil {
		return nil, err
	}
	h.Cleanup(func() { _ = c.admin.Close(context.WithoutCancel(h.Context())) }) // The connection has no open transaction.
	if c.large, err = fixture.CreateTenant(h, c.server, "large"); err != nil {
		return nil, err
	}
	c.small, err = fixture.CreateTenant(h, c.server, "small")
	return c, err
}

// queueFigures measures changes that wait for each other, and changes that do not.
func queueFigures(h *harness.Host, o harness.Options) (figures []harness.Figure, err error) {
	c, err := newSeededServer(h, o)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name    string
		measure func(*harness.Host, harness.Options, *seededServer) ([]harness.Figure, error)
	}{{wal, walFigure}, {overtaken, overtakenFigure}, {undo, undoFigure}, {otherTenant, otherTenantFigures}, {amongMany, amongManyFigure}} {
		if !o.Wants(one.name) {
			continue
		}
		found, err := one.measure(h, o, c)
		if err != nil {
			return figures, fmt.Errorf("%s: %w", one.name, err)
		}
		figures = append(figures, found...)
	}
	return figures, nil
}

// walFigure measures how much a change writes to the write-ahead log of the database server,
// including all copies of other services.
func walFigure(h *harness.Host, _ harness.Options, c *seededServer) ([]harness.Figure, error) {
	f := harness.Figure{Name: wal, Unit: "B", AtMost: 800, Note: "write-ahead log of all services per employee and change, 10,000 employees, no checkpoint during the run"}
	crew, err := fixture.Seed(h.Context(), c.admin, c.large, manyEmployees)
	if err != nil {
		return nil, err
	}
	commons, err := pgx.Connect(h.Context(), launch.PrivatePostgres(c.server.StateDir)(fixture.CommonsDatabase))
	if err != nil {
		return nil, err
	}
	defer commons.Close(context.WithoutCancel(h.Context()))
	samples, err := harness.Interleave(h.Context(), 5, func(ctx context.Context, _ int) (float64, error) {
		var before, after float64
		const position = `SELECT pg_current_wal_insert_lsn() - '0/0'`
		if err := c.admin.QueryRow(ctx, position).Scan(&before); err != nil {
			return 0, err
		}
		if _, err := fixture.Change(ctx, c.large.API, crew, "", false); err != nil {
			return 0, err
		}
		if err := awaitReplication(tenant.With(ctx, c.large.ID), c.admin, commons); err != nil {
			return 0, err
		}
		err := c.admin.QueryRow(ctx, position).Scan(&after)
		return (after - before) / manyEmployees, err
	})
	if err == nil {
		f.Measured = samples[0]
	}
	return []harness.Figure{f}, err
}

// awaitReplication waits until commons has all of scheduling's spans of the latest pattern.
func awaitReplication(ctx context.Context, scheduling, commons *pgx.Conn) error {
	tenantID := tenant.Of(ctx)
	for {
		var latest, has, known int64
		err := scheduling.QueryRow(ctx, `
			SELECT pattern_id, count(*) FROM span WHERE tenant_id = $1 GROUP BY 1 ORDER BY 1 DESC LIMIT 1`, tenantID).Scan(&latest, &has)
		if err != nil {
			return err
		}
		err = commons.QueryRow(ctx, `SELECT count(*) FROM schedule_span WHERE tenant_id = $1 AND pattern_id = $2`, tenantID, latest).Scan(&known)
		if err != nil || known == has {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), fmt.Errorf("commons has %d spans of %d", known, has))
		case <-time.After(20 * time.Millisecond): // the pause between two looks
		}
	}
}

// overtakenFigure compares twenty changes of the same employees in quick succession with one
// change.
func overtakenFigure(h *harness.Host, o harness.Options, c *seededServer) ([]harness.Figure, error) {
	f := harness.Figure{
		Name: overtaken, Unit: "s", AtMost: 3,
		Note: fmt.Sprintf("%d changes of the same 10,000 employees, from the first request until all are FINISHED, against one", queuedChanges),
	}
	crew, err := fixture.Seed(h.Context(), c.admin, c.large, manyEmployees)
	if err != nil {
		return nil, err
	}
	changes := func(number int) harness.Measure {
		return func(ctx context.Context, _ int) (float64, error) {
			began := time.Now()
			paths, err := fixture.Queue(ctx, c.large.API, crew, number)
			if err == nil {
				err = fixture.FinishAll(ctx, c.large.API, paths)
			}
			return time.Since(began).Seconds(), err
		}
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, changes(queuedChanges), changes(1))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return []harness.Figure{f}, err
}

// otherTenantFigures measure a small change of one tenant while large changes of another tenant are
// queued.
func otherTenantFigures(h *harness.Host, o harness.Options, c *seededServer) ([]harness.Figure, error) {
	note := fmt.Sprintf("a change of %d employees while another tenant has %d changes of %%d queued, against alone", fewEmployees, queuedChanges)
	size := 10 * o.CrewSize()
	ratio := harness.Figure{Name: otherTenant, Unit: "ms", AtMost: 5, Note: fmt.Sprintf(note, size)}
	seconds := harness.Figure{Name: otherTenant + "-time", Unit: "ms", AtMost: 1000, Note: "the same, as a time"}
	large, err := fixture.Seed(h.Context(), c.admin, c.large, size)
	if err != nil {
		return nil, err
	}
	small, err := fixture.Seed(h.Context(), c.admin, c.small, fewEmployees)
	if err != nil {
		return nil, err
	}
	few := func(ctx context.Context) (float64, error) {
		took, err := fixture.Change(ctx, c.small.API, small, "", false)
		return harness.Milliseconds(took), err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		func(ctx context.Context, _ int) (float64, error) {
			paths, err := fixture.Queue(ctx, c.large.API, large, queuedChanges)
			if err != nil {
				return 0, err
			}
			took, err := few(ctx)
			if err != nil {
				return 0, err
			}
			last, err := readPropagation(ctx, c.large.API, paths[len(paths)-1])
			if err == nil && last.State == "FINISHED" {
				err = errors.New("the queue was empty before the small change was done")
			}
			return took, errors.Join(err, fixture.FinishAll(ctx, c.large.API, paths))
		},
		func(ctx context.Context, _ int) (float64, error) { return few(ctx) })
	if err == nil {
		ratio.Measured, ratio.Baseline, seconds.Measured = samples[0], samples[1], samples[0]
	}
	return []harness.Figure{ratio, seconds}, err
}

func readPropagation(ctx context.Context, api scenario.API, path string) (p scenario.Propagation, err error) {
	_, err = api.Call(ctx, "GET", path, nil, &p)
	return p, err
}

// amongManyFigure compares a small change in a tenant with many spans with a small change in a
// tenant without other spans.
func amongManyFigure(h *harness.Host, o harness.Options, c *seededServer) ([]harness.Figure, error) {
	spans := otherSpans
	if o.Short {
		spans /= 10
	}
	f := harness.Figure{
		Name: amongMany, Unit: "ms", AtMost: 2,
		Note: fmt.Sprintf("a change of %d employees in a tenant with %d spans, against one without others", fewEmployees, spans),
	}
	alone, err := fixture.CreateTenant(h, c.server, "alone")
	if err != nil {
		return nil, err
	}
	if err := c.fill(h.Context(), spans); err != nil {
		return nil, err
	}
	members := []fixture.Tenant{c.large, alone}
	cases := make([]harness.Measure, len(members))
	for i, m := range members {
		crew, err := fixture.Seed(h.Context(), c.admin, m, fewEmployees)
		if err != nil {
			return nil, err
		}
		cases[i] = func(ctx context.Context, _ int) (float64, error) {
			took, err := fixture.Change(ctx, m.API, crew, "", false)
			return harness.Milliseconds(took), err
		}
	}
	samples, err := harness.Interleave(h.Context(), 2*o.Rounds+1, cases...)
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return []harness.Figure{f}, err
}

// fill gives the large tenant as many spans, for employees without other data.
func (c *seededServer) fill(ctx context.Context, spans int) error {
	last := fixture.FirstSeeded + fixture.Seeded.Add(int64(spans))
	if _, err := c.admin.Exec(ctx, `
		INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT @tenant, g, 0, @from, '3000-01-01', s.pattern_id, 0, s.day_count, s.assignment_id, true, s.propagation_id
		FROM (SELECT * FROM span WHERE tenant_id = @tenant ORDER BY assignment_id DESC LIMIT 1) AS s, generate_series(@first::bigint, @last) AS g`,
		pgx.NamedArgs{"tenant": c.large.ID, "from": fixture.From, "first": last - int64(spans) + 1, "last": last}); err != nil {
		return fmt.Errorf("fill in spans: %w", err)
	}
	_, err := c.admin.Exec(ctx, `VACUUM (ANALYZE) span`)
	return err
}

// millionFigures measure a change of a million employees in a separate process.
func millionFigures(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	c, err := newSeededServer(h, o)
	if err != nil {
		return nil, err
	}
	perEmployee := harness.Figure{Name: millionChange, Unit: "µs", AtMost: 1.2, Note: "a change per employee, of a million against of 10,000"}
	peak := harness.Figure{Name: millionChange + "-memory", Unit: "MiB", AtMost: 1024, Note: "peak of the process, without PostgreSQL"}
	sizes := []int{million, manyEmployees}
	cases := make([]harness.Measure, len(sizes))
	for i, size := range sizes {
		crew, err := fixture.Seed(h.Context(), c.admin, []fixture.Tenant{c.large, c.small}[i], size)
		if err != nil {
			return nil, err
		}
		cases[i] = func(ctx context.Context, _ int) (float64, error) {
			took, err := fixture.Change(ctx, []fixture.Tenant{c.large, c.small}[i].API, crew, "", false)
			return 1000 * harness.Milliseconds(took) / float64(size), err
		}
	}
	// Several rounds of only the small change are as long as the large one.
	large, err := cases[0](h.Context(), 0)
	if err != nil {
		return nil, err
	}
	baseline, err := harness.Interleave(h.Context(), 2*o.Rounds, cases[1])
	if err != nil {
		return nil, err
	}
	perEmployee.Measured, perEmployee.Baseline = harness.Sample{large}, baseline[0]
	memory, err := harness.PeakMemory(c.server.Process.Process.Pid)
	peak.Measured = harness.Sample{memory}
	return []harness.Figure{perEmployee, peak}, err
}
