package bench

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// schedulingDatabase is the database of scheduling in a standalone process.
const schedulingDatabase = "rotaloom_scheduling"

// member is a tenant of a standalone process, with its administrator logged
// in.
type member struct {
	api scenario.API
	id  int64
}

// join makes a tenant.
func join(h *host, server *launch.Server, name string) (member, error) {
	address := name + ".example.org"
	out, errs, code := launch.Run(h, launch.Build(h, "services/standalone/cmd/rotaloom"), nil,
		"tenant", "create", name, "--host", address, "--state-dir", server.StateDir)
	if code != 0 {
		return member{}, fmt.Errorf("create tenant %s: %s", name, errs)
	}
	values := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		values[key] = value
	}
	id, err := strconv.ParseInt(values["tenant"], 10, 64)
	if err != nil {
		return member{}, fmt.Errorf("create tenant %s: %w", name, err)
	}
	target := contract.Target{BaseURL: server.BaseURL, Values: values, Client: &http.Client{
		Transport: named{address, server.Client.Transport}, Timeout: time.Minute,
	}}
	target.Token, err = contract.Login(h.ctx, target)
	return member{scenario.API{Target: target}, id}, err
}

// named calls by a host name.
type named struct {
	host string
	http.RoundTripper
}

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = n.host
	return n.RoundTripper.RoundTrip(r)
}

// seeded are the employees that were seeded so far, of all tenants. Their ids are
// above those that persons get.
var seeded atomic.Int64

const firstSeeded = 1 << 20

// seed creates a term, and as many employees who are on it, as scheduling would
// have stored them; nobody else knows of these. admin is a superuser's connection
// to scheduling's database.
func seed(ctx context.Context, admin *pgx.Conn, m member, size int) (*scenario.Crew, error) {
	crew, err := scenario.NewCrew(ctx, m.api, 0, from)
	if err != nil {
		return nil, err
	}
	last := firstSeeded + seeded.Add(int64(size))
	args := pgx.NamedArgs{"tenant": m.id, "term": crew.TermID, "from": from, "first": last - int64(size) + 1, "last": last}
	for _, sql := range []string{
		`INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version)
			SELECT @tenant, g, 'seeded-' || g, 'Seeded ' || g, 'Europe/Zurich', 1 FROM generate_series(@first::bigint, @last) AS g`,
		`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
			SELECT @tenant, g, @term, @from, '3000-01-01' FROM generate_series(@first::bigint, @last) AS g`,
	} {
		if _, err := admin.Exec(ctx, sql, args); err != nil {
			return nil, fmt.Errorf("seed employees: %w", err)
		}
	}
	if _, err := admin.Exec(ctx, `VACUUM (ANALYZE) employee, membership`); err != nil {
		return nil, err
	}
	return crew, started(ctx, m.api, crew)
}

// started gives a crew its first pattern.
func started(ctx context.Context, api scenario.API, crew *scenario.Crew) error {
	_, err := change(ctx, api, crew, "", false)
	return err
}

// queue asks for changes of a crew without waiting for them, and returns their
// propagations.
func queue(ctx context.Context, api scenario.API, crew *scenario.Crew, changes int) ([]string, error) {
	paths := make([]string, changes)
	for i := range paths {
		assigned, err := crew.Assign(ctx, api, everyDay(scenario.Unique("bench")), from, "", 0)
		if err != nil {
			return nil, err
		}
		paths[i] = assigned.Propagation
	}
	return paths, nil
}

// finishAll waits until all propagations have finished.
func finishAll(ctx context.Context, api scenario.API, paths []string) error {
	for _, path := range paths {
		if _, err := scenario.Finish(ctx, api, path); err != nil {
			return err
		}
	}
	return nil
}
