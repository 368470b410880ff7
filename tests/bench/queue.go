package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	fewEmployees  = 10
	manyEmployees = 10_000
	queuedChanges = 20
	// otherSpans are the spans that the tenant of a small change has already.
	otherSpans = 1_100_000
	million    = 1_000_000
)

// crowd is a standalone process with tenants whose employees are seeded.
type crowd struct {
	server *launch.Server
	admin  *pgx.Conn
	// large and small are tenants.
	large, small member
}

func newCrowd(h *host, o Options) (*crowd, error) {
	c := &crowd{server: launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)}
	var err error
	if c.admin, err = pgx.Connect(h.ctx, launch.PrivatePostgres(c.server.StateDir)(schedulingDatabase)); err != nil {
		return nil, err
	}
	h.Cleanup(func() { _ = c.admin.Close(context.WithoutCancel(h.ctx)) }) // It has nothing open.
	if c.large, err = join(h, c.server, "large"); err != nil {
		return nil, err
	}
	c.small, err = join(h, c.server, "small")
	return c, err
}

// queueFigures measures changes that wait for each other, and do not.
func queueFigures(h *host, o Options) (figures []figure, err error) {
	c, err := newCrowd(h, o)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name    string
		measure func(*host, Options, *crowd) ([]figure, error)
	}{{walBytes, walFigure}, {overtaken, overtakenFigure}, {otherTenant, otherTenantFigures}, {amongMany, amongManyFigure}} {
		if !o.wants(one.name) {
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

// walFigure measures what a change writes to the write-ahead log of the database
// server, with all copies that others keep.
func walFigure(h *host, _ Options, c *crowd) ([]figure, error) {
	f := figure{name: walBytes, unit: "B", atMost: 800, note: "write-ahead log of all services per employee and change, 10,000 employees, no checkpoint meanwhile"}
	crew, err := seed(h.ctx, c.admin, c.large, manyEmployees)
	if err != nil {
		return nil, err
	}
	commons, err := pgx.Connect(h.ctx, launch.PrivatePostgres(c.server.StateDir)(commonsDatabase))
	if err != nil {
		return nil, err
	}
	defer commons.Close(context.WithoutCancel(h.ctx))
	samples, err := interleave(h.ctx, 5, func(ctx context.Context, _ int) (float64, error) {
		var before, after float64
		const position = `SELECT pg_current_wal_insert_lsn() - '0/0'`
		if err := c.admin.QueryRow(ctx, position).Scan(&before); err != nil {
			return 0, err
		}
		if _, err := change(ctx, c.large.api, crew, "", false); err != nil {
			return 0, err
		}
		if err := copied(ctx, c.admin, commons, c.large.id); err != nil {
			return 0, err
		}
		err := c.admin.QueryRow(ctx, position).Scan(&after)
		return (after - before) / manyEmployees, err
	})
	if err == nil {
		f.measured = samples[0]
	}
	return []figure{f}, err
}

// copied waits until commons has what scheduling has of the latest pattern.
func copied(ctx context.Context, scheduling, commons *pgx.Conn, tenant int64) error {
	for {
		var latest, has, known int64
		err := scheduling.QueryRow(ctx, `
			SELECT pattern_id, count(*) FROM span WHERE tenant_id = $1 GROUP BY 1 ORDER BY 1 DESC LIMIT 1`, tenant).Scan(&latest, &has)
		if err != nil {
			return err
		}
		err = commons.QueryRow(ctx, `SELECT count(*) FROM schedule_span WHERE tenant_id = $1 AND pattern_id = $2`, tenant, latest).Scan(&known)
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

// overtakenFigure compares twenty changes of the same employees, asked for one
// right after the other, with one.
func overtakenFigure(h *host, o Options, c *crowd) ([]figure, error) {
	f := figure{
		name: overtaken, unit: "s", atMost: 3,
		note: fmt.Sprintf("%d changes of the same 10,000 employees, from the first request until all are FINISHED, against one", queuedChanges),
	}
	crew, err := seed(h.ctx, c.admin, c.large, manyEmployees)
	if err != nil {
		return nil, err
	}
	changes := func(number int) measure {
		return func(ctx context.Context, _ int) (float64, error) {
			began := time.Now()
			paths, err := queue(ctx, c.large.api, crew, number)
			if err == nil {
				err = finishAll(ctx, c.large.api, paths)
			}
			return time.Since(began).Seconds(), err
		}
	}
	samples, err := interleave(h.ctx, o.Rounds, changes(queuedChanges), changes(1))
	if err == nil {
		f.measured, f.baseline = samples[0], samples[1]
	}
	return []figure{f}, err
}

// otherTenantFigures measure a small change of one tenant while large ones of
// another are queued.
func otherTenantFigures(h *host, o Options, c *crowd) ([]figure, error) {
	note := fmt.Sprintf("a change of %d employees while another tenant has %d changes of %%d queued, against alone", fewEmployees, queuedChanges)
	size := 10 * o.crewSize()
	ratio := figure{name: otherTenant, unit: "ms", atMost: 5, note: fmt.Sprintf(note, size)}
	seconds := figure{name: otherTenant + "-time", unit: "ms", atMost: 1000, note: "the same, as a time"}
	large, err := seed(h.ctx, c.admin, c.large, size)
	if err != nil {
		return nil, err
	}
	small, err := seed(h.ctx, c.admin, c.small, fewEmployees)
	if err != nil {
		return nil, err
	}
	few := func(ctx context.Context) (float64, error) {
		took, err := change(ctx, c.small.api, small, "", false)
		return milliseconds(took), err
	}
	samples, err := interleave(h.ctx, o.Rounds,
		func(ctx context.Context, _ int) (float64, error) {
			paths, err := queue(ctx, c.large.api, large, queuedChanges)
			if err != nil {
				return 0, err
			}
			took, err := few(ctx)
			if err != nil {
				return 0, err
			}
			last, err := readPropagation(ctx, c.large.api, paths[len(paths)-1])
			if err == nil && last.State == "FINISHED" {
				err = errors.New("the queue was empty before the small change was done")
			}
			return took, errors.Join(err, finishAll(ctx, c.large.api, paths))
		},
		func(ctx context.Context, _ int) (float64, error) { return few(ctx) })
	if err == nil {
		ratio.measured, ratio.baseline, seconds.measured = samples[0], samples[1], samples[0]
	}
	return []figure{ratio, seconds}, err
}

func readPropagation(ctx context.Context, api scenario.API, path string) (p scenario.Propagation, err error) {
	_, err = api.Call(ctx, "GET", path, nil, &p)
	return p, err
}

// amongManyFigure compares a small change in a tenant with many spans with one
// in a tenant that has no others.
func amongManyFigure(h *host, o Options, c *crowd) ([]figure, error) {
	spans := otherSpans
	if o.Short {
		spans /= 10
	}
	f := figure{
		name: amongMany, unit: "ms", atMost: 2,
		note: fmt.Sprintf("a change of %d employees in a tenant with %d spans, against one without others", fewEmployees, spans),
	}
	alone, err := join(h, c.server, "alone")
	if err != nil {
		return nil, err
	}
	if err := c.fill(h.ctx, spans); err != nil {
		return nil, err
	}
	members := []member{c.large, alone}
	cases := make([]measure, len(members))
	for i, m := range members {
		crew, err := seed(h.ctx, c.admin, m, fewEmployees)
		if err != nil {
			return nil, err
		}
		cases[i] = func(ctx context.Context, _ int) (float64, error) {
			took, err := change(ctx, m.api, crew, "", false)
			return milliseconds(took), err
		}
	}
	samples, err := interleave(h.ctx, 2*o.Rounds+1, cases...)
	if err == nil {
		f.measured, f.baseline = samples[0], samples[1]
	}
	return []figure{f}, err
}

// fill gives the large tenant as many spans, of employees of whom nothing else
// is known.
func (c *crowd) fill(ctx context.Context, spans int) error {
	last := firstSeeded + seeded.Add(int64(spans))
	if _, err := c.admin.Exec(ctx, `
		INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT @tenant, g, 0, @from, '3000-01-01', s.pattern_id, 0, s.day_count, s.assignment_id, true, s.propagation_id
		FROM (SELECT * FROM span WHERE tenant_id = @tenant ORDER BY assignment_id DESC LIMIT 1) AS s, generate_series(@first::bigint, @last) AS g`,
		pgx.NamedArgs{"tenant": c.large.id, "from": from, "first": last - int64(spans) + 1, "last": last}); err != nil {
		return fmt.Errorf("fill in spans: %w", err)
	}
	_, err := c.admin.Exec(ctx, `VACUUM (ANALYZE) span`)
	return err
}

// millionFigures measure a change of a million employees in a process of its
// own.
func millionFigures(h *host, o Options) ([]figure, error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	c, err := newCrowd(h, o)
	if err != nil {
		return nil, err
	}
	perEmployee := figure{name: millionChange, unit: "µs", atMost: 1.2, note: "a change per employee, of a million against of 10,000"}
	peak := figure{name: millionChange + "-memory", unit: "MiB", atMost: 1024, note: "peak of the process, without PostgreSQL"}
	sizes := []int{million, manyEmployees}
	cases := make([]measure, len(sizes))
	for i, size := range sizes {
		crew, err := seed(h.ctx, c.admin, []member{c.large, c.small}[i], size)
		if err != nil {
			return nil, err
		}
		cases[i] = func(ctx context.Context, _ int) (float64, error) {
			took, err := change(ctx, []member{c.large, c.small}[i].api, crew, "", false)
			return 1000 * milliseconds(took) / float64(size), err
		}
	}
	// Rounds of the small change alone are many enough to be like the large one.
	large, err := cases[0](h.ctx, 0)
	if err != nil {
		return nil, err
	}
	baseline, err := interleave(h.ctx, 2*o.Rounds, cases[1])
	if err != nil {
		return nil, err
	}
	perEmployee.measured, perEmployee.baseline = sample{large}, baseline[0]
	memory, err := peakMemory(c.server.Process.Process.Pid)
	peak.measured = sample{memory}
	return []figure{perEmployee, peak}, err
}
