// Package recruiting measures the reading of many applications.
package recruiting

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const applicationPages = "application-pages"

// Groups are the figures of this package, in the order of the table.
var Groups = []harness.Group{{Names: []string{applicationPages}, Run: pagesFigure}}

// pageSize is the number of applications in a page without a limit.
const pageSize = 100

// next matches the address of the next page in a header Link.
var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// pagesFigure compares the pages of all applications, which a client follows by the header Link, with the SQL of the
// same pages.
func pagesFigure(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	server, err := localpg.Start(h.Context(), localpg.Config{Dir: filepath.Join(h.TempDir(), "recruiting"), Disposable: true})
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() {
		if err := server.Stop(context.WithoutCancel(h.Context())); err != nil {
			h.Errorf("%v", err)
		}
	})
	settings := []string{"--log-level", "warn", "--no-throttle", "--admin-profiles", "--admin-address", o.Profiles, "--database-url", server.AdminURL("postgres")}
	api := scenario.API{Target: launch.StandaloneIn(h, h.TempDir(), nil, settings...).Target(h)}
	conn, err := pgx.Connect(h.Context(), server.AdminURL("rotaloom_recruiting"))
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(h.Context()))
	began := time.Now()
	tenant, err := storeApplications(h.Context(), api, conn)
	if err != nil {
		return nil, err
	}
	h.Logf("%d applications: %.1f s", applications, time.Since(began).Seconds())
	if _, err := conn.Exec(h.Context(), fmt.Sprintf("SET ROLE %s; SET rotaloom.tenant_id = '%d'", localpg.Role, tenant)); err != nil {
		return nil, err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		func(ctx context.Context, round int) (float64, error) { return followLinks(ctx, api, round == 0) },
		func(ctx context.Context, _ int) (float64, error) { return selectPages(ctx, conn, tenant) })
	if err != nil {
		return nil, err
	}
	return []harness.Figure{{
		Name: applicationPages, Unit: "ms", AtMost: 3, Measured: samples[0], Baseline: samples[1],
		Note: "p50 of a page of 100,000 applications over HTTPS by Link, against the SQL of the same page by pgx",
	}}, nil
}

// followLinks reads all pages, and returns the p50 of a page in milliseconds. If check is set, it requires that each
// application is on one page, with its candidate.
func followLinks(ctx context.Context, api scenario.API, check bool) (float64, error) {
	seen := map[string]bool{}
	var times []float64
	for path := "/v1/recruiting/applications"; path != ""; {
		began := time.Now()
		header, body, err := api.Bytes(ctx, http.MethodGet, path, nil)
		times = append(times, harness.Milliseconds(time.Since(began)))
		if err != nil {
			return 0, err
		}
		var page []struct {
			ID        string
			Candidate struct{ Name struct{ Last string } }
		}
		if check {
			if err := json.Unmarshal(body, &page); err != nil {
				return 0, err
			}
		}
		for _, a := range page {
			if seen[a.ID] || a.Candidate.Name.Last == "" {
				return 0, fmt.Errorf("application %s is listed twice or without its candidate", a.ID)
			}
			seen[a.ID] = true
		}
		path = ""
		if found := next.FindStringSubmatch(header.Get("Link")); found != nil {
			path = found[1][len(api.BaseURL):]
		}
	}
	if check && len(seen) != applications {
		return 0, fmt.Errorf("the pages have %d applications instead of %d", len(seen), applications)
	}
	return takeMedian(times), nil
}

// selectPages reads the rows of all pages: the applications and one more, their candidates with their lists, sources and processes. It
// returns the p50 of a page in milliseconds.
func selectPages(ctx context.Context, conn *pgx.Conn, tenant int64) (float64, error) {
	var times []float64
	for after, more := int64(0), true; more; {
		began := time.Now()
		rows, _ := conn.Query(ctx, `SELECT r.id::text, r.changed, r.created_at, r.deleted, r.body, r.candidate_id FROM application r
			WHERE r.tenant_id = $1 AND r.changed > $2 AND NOT r.deleted ORDER BY r.changed LIMIT $3`, tenant, after, pageSize+1)
		var candidates [][16]byte
		changes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (changed int64, err error) {
			var r struct {
				id        string
				created   time.Time
				deleted   bool
				body      []byte
				candidate [16]byte
			}
			err = row.Scan(&r.id, &changed, &r.created, &r.deleted, &r.body, &r.candidate)
			candidates = append(candidates, r.candidate)
			return changed, err
		})
		if err != nil {
			return 0, err
		}
		more = len(changes) > pageSize
		after = changes[min(len(changes), pageSize)-1]
		for sql, arguments := range map[string][]any{
			`SELECT id::text, body FROM candidate WHERE tenant_id = $1 AND id = ANY($2) AND NOT deleted`:                                                  {tenant, candidates},
			`SELECT candidate_id::text, list, id::text, created_at, updated_at, body FROM candidate_item WHERE tenant_id = $1 AND candidate_id = ANY($2)`: {tenant, candidates},
			`SELECT guid::text, name FROM applicant_source WHERE tenant_id = $1`:                                                                          {tenant},
			`SELECT guid::text, body FROM recruiting_process WHERE tenant_id = $1`:                                                                        {tenant},
		} {
			found, _ := conn.Query(ctx, sql, arguments...)
			for found.Next() {
				found.RawValues()
			}
			if err := found.Err(); err != nil {
				return 0, err
			}
		}
		times = append(times, harness.Milliseconds(time.Since(began)))
	}
	if len(times) != applications/pageSize {
		return 0, fmt.Errorf("the SQL reads %d pages instead of %d", len(times), applications/pageSize)
	}
	return takeMedian(times), nil
}

// takeMedian returns the median of times, which it sorts.
func takeMedian(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)/2]
}
