package job

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// maxJobs limits the jobs of a response.
const maxJobs = 5000

// MultiReadJobs returns the jobs that exist on a day, or every revision that applies on a day
// of a span, by name and then by date.
func (h *Handler) MultiReadJobs(ctx context.Context, req *commonsv1.MultiReadJobsRequest) (*commonsv1.JobList, error) {
	asked, err := criterion(req.GetWhere())
	if err != nil {
		return nil, err
	}
	since, err := structure.Since(req.GetMultiReadOptions())
	if err != nil {
		return nil, err
	}
	var ids []int64
	if asked.refs != nil {
		if ids, err = Resolve(ctx, h.pool, asked.refs, asked.revision); err != nil {
			return nil, err
		}
	}
	list, err := during(ctx, h.pool, ids, asked.days, since)
	if err != nil {
		return nil, err
	}
	if since == nil {
		err = present(list, ids, asked.days)
	}
	return &commonsv1.JobList{Jobs: list}, err
}

// question is a parsed criterion: the named jobs, or all jobs if none are named, and the
// days. Names are resolved on the revision date.
type question struct {
	refs     []*commonv1.Ref
	days     civil.Range
	revision civil.Date
}

func criterion(where *commonsv1.JobWhere) (question, error) {
	if err := fault.ExactlyOne(structure.CodeOneCriterion, "where", "forDate, span and allJobsBySpan",
		where.GetForDate() != nil, where.GetSpan() != nil, where.GetAllJobsBySpan() != nil); err != nil {
		return question{}, err
	}
	switch {
	case where.GetForDate() != nil:
		day, err := structure.Day("where.forDate.date", where.GetForDate().GetDate())
		return question{days: civil.Through(day, day)}, err
	case where.GetAllJobsBySpan() != nil:
		days, err := structure.Span("where.allJobsBySpan", where.GetAllJobsBySpan().GetStartDate(), where.GetAllJobsBySpan().GetEndDate())
		return question{days: days}, err
	default:
		return spanCriterion(where.GetSpan())
	}
}

func spanCriterion(span *commonsv1.JobsSpan) (question, error) {
	var q question
	var err error
	if q.days, err = structure.Span("where.span", span.GetStartDate(), span.GetEndDate()); err != nil {
		return q, err
	}
	if q.revision, err = structure.DayOr("where.span.revisionDate", span.GetRevisionDate(), q.days.From); err != nil {
		return q, err
	}
	q.refs, err = structure.OneOrMore("where.span.job", span.GetJobRef(), span.GetJobRefs())
	return q, err
}

// present checks that every named job exists on some day of the span.
func present(list []*commonsv1.Job, ids []int64, days civil.Range) error {
	found := make(map[int64]bool, len(list))
	for _, j := range list {
		found[j.GetId()] = true
	}
	for _, id := range ids {
		if !found[id] {
			return fault.Invalid(structure.CodeJobNotInSpan,
				fmt.Sprintf("The job with the id %d does not exist between %s and %s.", id, days.From, days.To.AddDays(-1)))
		}
	}
	return nil
}

// during returns the revisions of jobs on the days: of all jobs if ids is nil, and only those
// that changed since a time if one is given. More revisions than a response may hold are a
// fault.
func during(ctx context.Context, db pg.Querier, ids []int64, days civil.Range, since *time.Time) ([]*commonsv1.Job, error) {
	tenantID := tenant.Of(ctx)
	const condition = ` WHERE v.tenant_id = $1 AND ($2::bigint[] IS NULL OR v.job_id = ANY($2))
		AND v.from_date < $4 AND v.to_date > $3 AND ($5::timestamptz IS NULL OR v.updated_at >= $5)`
	rows, err := db.Query(ctx, `SELECT `+columns+joined+condition+`
		ORDER BY v.name, v.from_date LIMIT $6`, tenantID, ids, days.From, days.To, since, maxJobs+1)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scan)
	if err != nil || len(list) <= maxJobs {
		return list, err
	}
	var actual int
	if err := db.QueryRow(ctx, `SELECT count(*) FROM job_version v`+condition, tenantID, ids,
		days.From, days.To, since).Scan(&actual); err != nil {
		return nil, err
	}
	return nil, structure.TooMany("jobs", actual, maxJobs)
}

// GetJobByExternalId returns the job that has an external id on a date, or 404.
func (h *Handler) GetJobByExternalId(ctx context.Context, req *commonsv1.GetJobByExternalIdRequest) (*commonv1.Ref, error) {
	day, err := structure.DayOr("date", req.GetDate(), h.today(ctx))
	if err != nil {
		return nil, err
	}
	found, err := byExternalID(ctx, h.pool, []string{req.GetExternalId()}, day)
	if err != nil {
		return nil, err
	}
	if ref, ok := found[req.GetExternalId()]; ok {
		return ref, nil
	}
	return nil, fault.NotFound(structure.CodeUnknownJob, noExternal(req.GetExternalId(), day))
}

// MultiReadJobExternalIds returns the jobs that have external ids on a date, in the order of
// the request.
func (h *Handler) MultiReadJobExternalIds(ctx context.Context, req *commonsv1.MultiReadJobExternalIdsRequest) (*commonsv1.JobExternalIdMappings, error) {
	day, err := structure.Day("where.date", req.GetWhere().GetDate())
	if err != nil {
		return nil, err
	}
	asked := req.GetWhere().GetExternalIds()
	if len(asked) == 0 {
		return nil, structure.Missing("where.externalIds")
	}
	found, err := byExternalID(ctx, h.pool, asked, day)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.JobExternalIdMapping, *commonsv1.JobExternalIdMapping]{}
	for _, externalID := range asked {
		mapping := &commonsv1.JobExternalIdMapping{ExternalId: externalID, GenericJob: found[externalID]}
		if mapping.GenericJob == nil {
			out.Fail(mapping, fault.Invalid(structure.CodeUnknownJob, noExternal(externalID, day)))
		} else {
			out.Succeed(mapping, mapping)
		}
	}
	done, failure, err := rpc.BulkResult(ctx, out)
	return &commonsv1.JobExternalIdMappings{Mappings: done, Failure: failure}, err
}

func noExternal(externalID string, day civil.Date) string {
	return fmt.Sprintf("There is no job with the externalId %q on %s.", externalID, day)
}

// byExternalID returns jobs by their external ids. If several jobs share one, it returns the
// oldest.
func byExternalID(ctx context.Context, db pg.Querier, externalIDs []string, day civil.Date) (map[string]*commonv1.Ref, error) {
	out := map[string]*commonv1.Ref{}
	var id int64
	var externalID, name string
	err := pg.ForEach(ctx, db, []any{&externalID, &id, &name}, func() error {
		out[externalID] = ref(id, name)
		return nil
	}, `SELECT external_id, job_id, name FROM job_version
		WHERE tenant_id = $1 AND external_id = ANY($2) AND external_id IS NOT NULL AND from_date <= $3 AND to_date > $3
		ORDER BY job_id DESC`, tenant.Of(ctx), externalIDs, day)
	return out, err
}

// MultiReadJobPersistentIds returns the ids of jobs by their persistent ids.
func (h *Handler) MultiReadJobPersistentIds(ctx context.Context, req *commonsv1.MultiReadPersistentIdsRequest) (*commonsv1.PersistentIdMappings, error) {
	return structure.PersistentIDs(ctx, h.pool, "job", req.GetWhere().GetPersistentIds(), structure.CodeUnknownJob)
}

// maxCodes limits the codes in one call.
const maxCodes = 100

// ResolveJobCodes returns the codes that jobs have on a day.
func (h *Handler) ResolveJobCodes(ctx context.Context, req *commonsv1.ResolveJobCodesRequest) (*commonsv1.ResolveJobCodesResponse, error) {
	if len(req.GetCodes()) > maxCodes {
		return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("At most %d codes can be asked for at once.", maxCodes))
	}
	day := h.today(ctx)
	if req.Day != nil {
		day = civil.Date(req.GetDay())
	}
	found, err := pg.Collect(ctx, h.pool, pgx.RowTo[string], `SELECT DISTINCT code FROM job_version
		WHERE tenant_id = $1 AND code = ANY($2) AND code <> '' AND from_date <= $3 AND to_date > $3`, tenant.Of(ctx), req.GetCodes(), day)
	if err != nil {
		return nil, fmt.Errorf("resolve job codes: %w", err)
	}
	return &commonsv1.ResolveJobCodesResponse{Codes: found}, nil
}
