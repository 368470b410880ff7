package timecard

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Punches serves PunchService.
type Punches struct {
	timekeepingv1.UnsafePunchServiceServer
	pool     *pg.Pool
	signoffs *signoff.Store
	persons  *person.Directory
	jobs     *orgjob.Resolver
	zones    civil.Zones
	now      func() time.Time
}

var _ timekeepingv1.PunchServiceServer = (*Punches)(nil)

// NewPunches returns a Punches that keeps punches in the database of the pool.
func NewPunches(pool *pg.Pool, signoffs *signoff.Store, persons *person.Directory, jobs *orgjob.Resolver, now func() time.Time) *Punches {
	return &Punches{pool: pool, signoffs: signoffs, persons: persons, jobs: jobs, now: now}
}

// ImportPunches stores punches independently of each other.
func (h *Punches) ImportPunches(ctx context.Context, req *timekeepingv1.ImportPunchesRequest) (*timekeepingv1.ImportPunchesResponse, error) {
	if len(req.GetPunches()) == 0 {
		return nil, timecardfault.Missing("punches")
	}
	found, err := h.findEmployees(ctx, req.GetPunches())
	if err != nil {
		return nil, err
	}
	visible, err := h.persons.Visible(rowvisibility.OnAnyDay(ctx))
	if err != nil {
		return nil, err
	}
	setup, err := readSetup(ctx, h.pool)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ImportPunchesResponse{Punches: make([]*timekeepingv1.ImportedPunch, len(req.GetPunches()))}
	refuse := func(i int, err error) {
		f := fault.FromError(err)
		out.Punches[i].TkError = &timekeepingv1.TkError{ErrorCode: f.Code, Message: allMessages(f)}
	}
	parsed := make([]*punch.Entry, len(req.GetPunches()))
	for i, p := range req.GetPunches() {
		out.Punches[i] = &timekeepingv1.ImportedPunch{PunchForRest: p}
		parsed[i], err = h.entry(ctx, p, found, setup)
		if err == nil && !visible.HasOn(parsed[i].Employee.ID, parsed[i].Day()) {
			authn.NoteNotVisible(ctx)
			parsed[i] = nil
			_, err = requested.In(nil, p.GetEmployee())
		}
		if err != nil {
			refuse(i, err)
		}
	}
	jobs, err := h.jobs.Resolve(ctx, namedJobs(parsed))
	if err != nil {
		return nil, err
	}
	var rows []*punch.Entry
	var at []int
	for i, row := range parsed {
		if row == nil {
			continue
		}
		if err := row.SetJob(jobs); err != nil {
			refuse(i, err)
			continue
		}
		rows, at = append(rows, row), append(at, i)
	}
	if err := h.signoffs.AddPunches(ctx, rows); err != nil {
		return nil, err
	}
	for n, row := range rows {
		out.Punches[at[n]].PunchForRest = row.ToProto()
	}
	return out, nil
}

// allMessages returns the messages of all faults of a punch: the error of an item has no list of them, because the
// clients of the specified API expect only a code and a message.
func allMessages(f *fault.Error) string {
	if len(f.Details.GetViolations()) < 2 {
		return f.Message
	}
	var all []string
	for _, v := range f.Details.GetViolations() {
		all = append(all, v.GetMessage())
	}
	return strings.Join(all, " ")
}

// namedJobs returns the jobs of punches. Nil entries have none.
func namedJobs(list []*punch.Entry) []orgjob.Name {
	var out []orgjob.Name
	for _, e := range list {
		if e != nil {
			out = append(out, e.NamedJob)
		}
	}
	return out
}

// findEmployees finds the employees of punches whom the caller sees on some day. Unknown employees are missing in the result.
func (h *Punches) findEmployees(ctx context.Context, list []*timekeepingv1.Punch) (map[person.Key]person.Person, error) {
	var keys []person.Key
	for _, p := range list {
		if key, err := requested.PersonKey(p.GetEmployee()); err == nil && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return h.persons.Find(rowvisibility.OnAnyDay(ctx), keys)
}

// entry converts a punch of a found employee to an entry.
func (h *Punches) entry(ctx context.Context, p *timekeepingv1.Punch, found map[person.Key]person.Person, setup *paysetup.Setup) (*punch.Entry, error) {
	who, err := requested.In(found, p.GetEmployee())
	if err != nil {
		return nil, err
	}
	return newEntry(&h.zones, p, who, setup, clock.OfTenant(ctx, h.now()))
}

// newEntry converts a punch to an entry. It returns an error if the punch is impossible, or refers
// to something that does not exist.
func newEntry(zones *civil.Zones, p *timekeepingv1.Punch, who person.Person, setup *paysetup.Setup, now time.Time) (*punch.Entry, error) {
	e, err := punch.Parse(zones, p, who)
	if err != nil {
		return nil, err
	}
	impossible := e.CheckTime(now)
	e.WorkRuleID, err = setup.FindWorkRule(e.WorkRuleID, e.WorkRule)
	return e, fault.Join(impossible, err)
}

// readSetup reads the setup that punches and pay code edits refer to.
func readSetup(ctx context.Context, pool *pg.Pool) (s *paysetup.Setup, err error) {
	err = pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		s, err = paysetup.Load(ctx, tx)
		return err
	})
	return s, err
}
