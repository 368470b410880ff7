package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// primaryJob is a primary job of a person, as primaryJobs selects it. Days are days since 1970-01-01.
type primaryJob struct {
	From, To int32
	Path     string
	Location int64
	// Names are the other paths that name the location on some of the days.
	Names []struct {
		From, To int32
		Path     string
	}
}

// primaryJobs selects the primary jobs of a person p as JSON. A path that comes before its location
// gets the location of its last day. OFFSET makes the planner compute the location first: with its
// expression in a condition, row-level security would prevent the use of an index.
var primaryJobs = `
	SELECT json_agg(json_build_object('from', a.from_date - ` + civil.EpochSQL + `, 'to', a.to_date - ` + civil.EpochSQL + `,
		'path', a.organization_path, 'location', coalesce(at.id, 0), 'names', named.list) ORDER BY a.from_date) AS jobs
	FROM primary_labor_account a
	CROSS JOIN LATERAL (SELECT coalesce(` + locationpath.AtSQL("$1", "a.organization_path", "a.from_date") + `, ` +
	locationpath.AtSQL("$1", "a.organization_path", "a.to_date - 1") + `) AS id OFFSET 0) AS at
	CROSS JOIN LATERAL (
		SELECT json_agg(json_build_object('from', greatest(n.from_date, a.from_date) - ` + civil.EpochSQL + `,
			'to', least(n.to_date, a.to_date) - ` + civil.EpochSQL + `, 'path', n.path) ORDER BY n.path, n.from_date) AS list
		FROM ` + locationpath.NamesSQL("$1", "at.id", "a.to_date") + ` AS n
		WHERE n.to_date > a.from_date AND n.path <> a.organization_path
	) AS named
	WHERE a.tenant_id = $1 AND a.person_id = p.id AND a.organization_path <> ''`

// newPersonJobs returns primary jobs in the order of their days, or nil if there are none. It cuts a
// job where another path begins or ceases to name the location.
func newPersonJobs(jobs []primaryJob) *commonsv1.PersonJobs {
	out := &commonsv1.PersonJobs{}
	for _, j := range jobs {
		bounds := []int32{j.From, j.To}
		for _, n := range j.Names {
			bounds = append(bounds, n.From, n.To)
		}
		slices.Sort(bounds)
		bounds = slices.Compact(bounds)
		for i, from := range bounds[:len(bounds)-1] {
			part := &commonsv1.PersonJob{From: from, To: bounds[i+1], Path: j.Path, LocationId: j.Location}
			for _, n := range j.Names {
				if n.From <= from && from < n.To && !slices.Contains(part.OtherPaths, n.Path) {
					part.OtherPaths = append(part.OtherPaths, n.Path)
				}
			}
			out.Jobs = append(out.Jobs, part)
		}
	}
	if len(out.GetJobs()) == 0 {
		return nil
	}
	return out
}

// FillPrimaryJobs sets the primary jobs in the states of persons as they are stored.
func FillPrimaryJobs(ctx context.Context, db pg.Querier, states []*commonsv1.PersonState) error {
	byID := make(map[int64]*commonsv1.PersonState, len(states))
	ids := make([]int64, len(states))
	for i, s := range states {
		ids[i], byID[s.GetPersonId()] = s.GetPersonId(), s
	}
	stored, err := ReadStates(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read primary jobs: %w", err)
	}
	for _, s := range stored {
		byID[s.GetPersonId()].PrimaryJobs = s.GetPrimaryJobs()
	}
	return nil
}
