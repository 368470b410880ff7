// Package job stores jobs, the kinds of work that people do, as dated versions.
package job

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
	"github.com/rotaloom/rotaloom/services/commons/internal/timeline"
)

// Locations returns the id of the job of a location on a day, or 0 if the location has no
// job.
type Locations func(ctx context.Context, db pg.Querier, ref *commonv1.Ref, day civil.Date) (int64, error)

// Handler serves JobService.
type Handler struct {
	commonsv1.UnsafeJobServiceServer

	pool      *pg.Pool
	clock     clock.Clock
	locations Locations
}

// New returns a Handler.
func New(pool *pg.Pool, clk clock.Clock, locations Locations) *Handler {
	return &Handler{pool: pool, clock: clk, locations: locations}
}

// today returns the default day of requests without a date, in UTC.
func (h *Handler) today(ctx context.Context) civil.Date {
	return civil.FromTime(clock.OfTenant(ctx, h.clock.Now()))
}

// FindJob returns the job that has a name on a date, or 404.
func (h *Handler) FindJob(ctx context.Context, req *commonsv1.FindJobRequest) (*commonsv1.Job, error) {
	id, day, err := find(ctx, h.pool, req)
	if err != nil {
		return nil, err
	}
	return on(ctx, h.pool, id, day)
}

// CreateJob stores a new job.
func (h *Handler) CreateJob(ctx context.Context, given *commonsv1.Job) (*commonsv1.Job, error) {
	if given.Id != nil {
		return nil, fault.Invalid(structure.CodeIDGiven, "id must not be sent with a new job.")
	}
	days, err := structure.Days(given.GetEffectiveDate(), given.GetExpirationDate())
	if err != nil {
		return nil, err
	}
	if given.Name == nil {
		return nil, structure.Missing("name")
	}
	if err := check(given); err != nil {
		return nil, err
	}
	var created *commonsv1.Job
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		id, err := insert(ctx, tx, given.GetPersistentId())
		if err != nil {
			return err
		}
		versions := []timeline.Interval[version]{{Days: days, Value: version{}.withSent(given)}}
		if err := replace(ctx, tx, id, versions); err != nil {
			return err
		}
		created, err = on(ctx, tx, id, days.From)
		return err
	})
	return created, err
}

// UpdateJob changes the properties of a job that the request sends, on some of its days, or
// on all of them if the request has no dates. It returns the first changed revision.
func (h *Handler) UpdateJob(ctx context.Context, req *commonsv1.UpdateJobRequest) (*commonsv1.Job, error) {
	given := req.GetJob()
	if given == nil {
		given = &commonsv1.Job{}
	}
	if err := structure.CheckID(req.GetJobId(), given.Id); err != nil {
		return nil, err
	}
	days, err := structure.Days(given.GetEffectiveDate(), given.GetExpirationDate())
	if err != nil {
		return nil, err
	}
	if err := check(given); err != nil {
		return nil, err
	}
	var changed *commonsv1.Job
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		versions, err := history(ctx, tx, req.GetJobId())
		if err != nil {
			return err
		}
		first := max(days.From, versions[0].Days.From)
		if _, ok := timeline.On(versions, first); !ok || first >= days.To {
			return errNotOnDate(req.GetJobId(), first)
		}
		if given.EffectiveDate != "" && days.From < versions[0].Days.From {
			return errNotOnDate(req.GetJobId(), days.From)
		}
		versions = timeline.Change(versions, days, func(v version) version { return v.withSent(given) })
		if err := replace(ctx, tx, req.GetJobId(), versions); err != nil {
			return err
		}
		changed, err = on(ctx, tx, req.GetJobId(), first)
		return err
	})
	return changed, err
}

// GetJob returns a job on a date.
func (h *Handler) GetJob(ctx context.Context, req *commonsv1.GetJobRequest) (*commonsv1.Job, error) {
	day, err := structure.DayOr("date", req.GetDate(), h.today(ctx))
	if err != nil {
		return nil, err
	}
	return on(ctx, h.pool, req.GetJobId(), day)
}

// DeleteJob deletes a job with all its days. A job that a location uses cannot be deleted.
func (h *Handler) DeleteJob(ctx context.Context, req *commonsv1.DeleteJobRequest) (*emptypb.Empty, error) {
	if err := remove(ctx, h.pool, req.GetJobId()); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// DeleteJobByName deletes the job that has a name on a date.
func (h *Handler) DeleteJobByName(ctx context.Context, req *commonsv1.FindJobRequest) (*emptypb.Empty, error) {
	id, _, err := find(ctx, h.pool, req)
	if err != nil {
		return nil, err
	}
	return h.DeleteJob(ctx, &commonsv1.DeleteJobRequest{JobId: id})
}

// ReadLocationJob returns the job of a location on a date, or an empty response if the
// location has no job.
func (h *Handler) ReadLocationJob(ctx context.Context, req *commonsv1.ReadLocationJobRequest) (*commonsv1.LocationJob, error) {
	asked := req.GetForLocation()
	if asked == nil {
		return nil, structure.Missing("forLocation")
	}
	day, err := structure.Day("forLocation.date", asked.GetDate())
	if err != nil {
		return nil, err
	}
	if err := structure.CheckRef("forLocation.locationRef", asked.GetLocationRef()); err != nil {
		return nil, err
	}
	id, err := h.locations(ctx, h.pool, asked.GetLocationRef(), day)
	if err != nil || id == 0 {
		return &commonsv1.LocationJob{}, err
	}
	found, err := on(ctx, h.pool, id, day)
	return &commonsv1.LocationJob{Job: found}, err
}
