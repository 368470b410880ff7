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

// primaryJobs selects the primary jobs of a person p as JSON, one for each location that the path names. A
// path that comes before its location gets the location as well. OFFSET makes the planner compute the
// location first: with its expression in a condition, row-level security would prevent the use of an index.
var primaryJobs = `
	SELECT json_agg(json_build_object('from', part.from_date - ` + civil.EpochSQL + `, 'to', part.to_date - ` + civil.EpochSQL + `,
		'path', a.organization_path, 'location', coalesce(part.id, 0), 'names', named.list) ORDER BY part.from_date) AS jobs
	FROM primary_labor_account a
	LEFT JOIN LATERAL (SELECT held.location_id AS id, least(held.to_date, a.to_date) AS to_date,
			CASE WHEN held.from_date = min(held.from_date) OVER () THEN a.from_date ELSE greatest(held.from_date, a.from_date) END AS from_date
		FROM ` + locationpath.HoldersSQL("$1", "a.organization_path", "a.to_date") + ` AS held OFFSET 0) AS at ON at.from_date < at.to_date
	CROSS JOIN LATERAL (SELECT at.id, coalesce(at.from_date, a.from_date) AS from_date, coalesce(at.to_date, a.to_date) AS to_date) AS part
	CROSS JOIN LATERAL (
		SELECT json_agg(json_build_object('from', greatest(n.from_date, part.from_date) - ` + civil.EpochSQL + `,
			'to', least(n.to_date, part.to_date) - ` + civil.EpochSQL + `, 'path', n.path) ORDER BY n.path, n.from_date) AS list
		FROM ` + locationpath.NamesSQL("$1", "part.id", "part.to_date") + ` AS n
		WHERE n.to_date > part.from_date AND n.path <> a.organization_path
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
			last := len(out.Jobs) - 1
			if last >= 0 && continues(out.Jobs[last], part) {
				out.Jobs[last].To = part.To
				continue
			}
			out.Jobs = append(out.Jobs, part)
		}
	}
	if len(out.GetJobs()) == 0 {
		return nil
	}
	return out
}

// continues reports whether a job has the values of the one on the days before.
func continues(before, job *commonsv1.PersonJob) bool {
	return before.GetTo() == job.GetFrom() && before.GetPath() == job.GetPath() &&
		before.GetLocationId() == job.GetLocationId() && slices.Equal(before.GetOtherPaths(), job.GetOtherPaths())
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
