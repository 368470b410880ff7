package wageworkrule

import (
	"cmp"
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// findJobs fills in the paths of the jobs in rules. It fails the persons with an unknown job,
// or with a location that is not a job. As elsewhere, a path may be used before its location
// exists.
func (w *Handler) findJobs(ctx context.Context, wages [][]*commonsv1.WageWorkRule, failed []error) error {
	tenantID := tenant.Of(ctx)
	var owners []int
	var found []*commonsv1.WageWorkRule
	var ids []int64
	var paths []string
	var days []civil.Date
	for i, list := range wages {
		for _, rule := range list {
			job := rule.GetJob()
			owners, found = append(owners, i), append(found, rule)
			ids, paths = append(ids, job.GetId()), append(paths, job.GetQualifier())
			day, err := civil.ParseDate(cmp.Or(rule.GetEffectiveDate(), w.reader.Today(ctx).String()))
			if err != nil {
				day = w.reader.Today(ctx)
			}
			days = append(days, day.Clamp())
		}
	}
	var at int
	var path string
	var noJob bool
	err := pg.ForEach(ctx, w.pool, []any{&at, &path, &noJob}, func() error {
		found[at].Job = &commonv1.Ref{Qualifier: proto.String(path)}
		switch {
		case failed[owners[at]] != nil:
		case path == "":
			failed[owners[at]] = fault.Invalid(rules.CodeBadValue, fmt.Sprintf("effectiveDatedWageWorkRules: there is no job with the id %d on %s.", ids[at], days[at]))
		case noJob:
			failed[owners[at]] = fault.Invalid(rules.CodeBadValue, fmt.Sprintf("effectiveDatedWageWorkRules: the location %.100q is not a job.", path))
		}
		return nil
	}, fmt.Sprintf(`SELECT (q.at - 1)::int,
			CASE WHEN q.id <> 0 THEN coalesce(%[1]s, '') ELSE q.path END, v.location_id IS NOT NULL AND v.job_id IS NULL
		FROM unnest($2::bigint[], $3::text[], $4::date[]) WITH ORDINALITY AS q (id, path, day, at)
		LEFT JOIN location_version v ON v.tenant_id = $1 AND v.from_date <= q.day AND v.to_date > q.day
			AND v.location_id = CASE WHEN q.id <> 0 THEN q.id ELSE %[2]s END`,
		locationpath.PathSQL("$1", "q.id", "q.day"), locationpath.AtSQL("$1", "q.path", "q.day")),
		tenantID, ids, paths, days)
	return err
}

// fillJobs fills in the ids of the jobs whose paths name a location today.
func (w *Handler) fillJobs(ctx context.Context, persons []*commonsv1.PersonWageWorkRules) error {
	tenantID := tenant.Of(ctx)
	var paths []string
	for _, p := range persons {
		for _, days := range p.GetEffectiveDatedWageWorkRules() {
			for _, rule := range days.GetWageWorkRules() {
				paths = append(paths, rule.GetJob().GetQualifier())
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	ids := map[string]*int64{}
	var path string
	var id *int64
	if err := pg.ForEach(ctx, w.pool, []any{&path, &id}, func() error {
		ids[path] = id
		return nil
	}, `SELECT q.path, `+locationpath.AtSQL("$1", "q.path", "$3::date")+`
		FROM (SELECT DISTINCT unnest($2::text[]) AS path) AS q`, tenantID, paths, w.reader.Today(ctx)); err != nil {
		return fmt.Errorf("look for jobs: %w", err)
	}
	for _, p := range persons {
		for _, days := range p.GetEffectiveDatedWageWorkRules() {
			for _, rule := range days.GetWageWorkRules() {
				rule.Job.Id = ids[rule.GetJob().GetQualifier()]
			}
		}
	}
	return nil
}
