// Package itemchange reads, creates, replaces and deletes schedule entries of all kinds. Every
// change first locks the employees, so that no other transaction can lock the days or change the
// spans at the same time.
package itemchange

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleviolation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Directory finds the employees of requests, like [projection.Resolver.Employees].
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	// Visible returns the employees that the caller may see. Do not call it in a transaction.
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// onAnyDay is a Directory that also has the employees whom the caller sees on some days only. Editors
// check the days of each entry with [rowvisibility.Set.HasOn].
type onAnyDay struct{ Directory }

func (d onAnyDay) Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error) {
	return d.Directory.Employees(rowvisibility.OnAnyDay(ctx), refs)
}

func (d onAnyDay) Visible(ctx context.Context) (rowvisibility.Set, error) {
	return d.Directory.Visible(rowvisibility.OnAnyDay(ctx))
}

// OnAnyDay returns the dependencies with a directory that also has the employees whom the caller sees on
// some days only.
func (d Deps) OnAnyDay() Deps {
	d.Directory = onAnyDay{d.Directory}
	return d
}

// Deps are the dependencies of an Editor. Its directory is from [Deps.OnAnyDay].
type Deps struct {
	Pool      *pg.Pool
	Directory Directory
	Reader    *reading.Reader
	// Rules checks the schedule rules of employees that get shifts. If it is nil, no rule applies.
	Rules *ruleviolation.Checker
	// JobPaths warns of jobs that no location has. It may be nil.
	JobPaths *jobpath.Checker
}

// Entry is a message of one kind of entries.
type Entry interface {
	proto.Message
	GetEmployee() *commonv1.Ref
	GetId() int64
}

// Editor reads and changes one kind of entries.
type Editor[M Entry] struct {
	Deps
	Kind  string
	Label string // "shift", for messages
	// Complete fills in the objects that entries refer to, and records the errors of entries. It is
	// nil for kinds without references.
	Complete func(ctx context.Context, sent []M, failed []error) ([]M, error)
	// Jobs returns the jobs that an entry names, or is nil for kinds without jobs.
	Jobs func(sent M) []*commonv1.Ref
	// Draft checks an entry of a request.
	Draft func(sent M, employee *projection.Employee) (*itemdraft.Draft, error)
	// Make returns an empty entry. Fill sets the fields that are not in the body.
	Make func() M
	Fill func(m M, id int64, employee *projection.Employee, version int64, locked bool)
	// Version returns the version that the caller read, or nil if there is none.
	Version func(sent M) *int64
	// Generated reports whether a generated entry is of this kind. Show converts it to a message.
	Generated func(g *reading.Generated) bool
	Show      func(g *reading.Generated, employee *projection.Employee) (M, error)
	// Shown converts a stored body of an employee's entry for responses. It is nil if no conversion
	// is needed.
	Shown func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error)
	// Warn adds the violations of schedule rules that a change of an entry added. It is nil for
	// kinds without rules.
	Warn func(m M, added []*schedulingv1.ScheduleRuleViolation)
}

// newDrafts checks entries, each with its employee. The caller must see the employee on the days of the entry. It
// fails with the first error, or, with partial, records all errors.
func (f *Editor[M]) newDrafts(ctx context.Context, sent []M, employees []*projection.Employee, failed []error, partial bool) ([]*itemdraft.Draft, error) {
	if f.Complete != nil {
		var err error
		if sent, err = f.Complete(ctx, sent, failed); err != nil {
			return nil, err
		}
	}
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	drafts := make([]*itemdraft.Draft, len(sent))
	for i, m := range sent {
		if failed[i] == nil {
			drafts[i], failed[i] = f.Draft(m, employees[i])
		}
		if failed[i] == nil && employees[i] != nil && !visible.HasOn(employees[i].ID, drafts[i].Occupies) {
			authn.NoteNotVisible(ctx)
			failed[i] = projection.UnknownEmployee(cmp.Or(m.GetEmployee(), itemdraft.NewRef(employees[i])))
		}
		if failed[i] != nil && !(partial && ConcernsItem(failed[i])) {
			return nil, failed[i]
		}
	}
	return drafts, f.warnOfJobs(ctx, sent)
}

// decode returns the entry of a stored row.
func (f *Editor[M]) decode(r *itemstore.Row, employee *projection.Employee) (M, error) {
	m, body := f.Make(), r.Body
	if f.Shown != nil && employee != nil {
		var err error
		if body, err = f.Shown(body, employee, r.From); err != nil {
			return m, err
		}
	}
	if err := proto.Unmarshal(body, m); err != nil {
		return m, err
	}
	f.Fill(m, r.ID, employee, r.Version, r.Locked)
	return m, nil
}

// RunBulk runs an operation on at least one entry, and returns the response.
func (f *Editor[M]) RunBulk(
	ctx context.Context, sent []M, partial bool, do func(context.Context, []M, bool) (*bulk.Outcome[M, M], error),
) ([]M, *commonv1.ErrorBody, error) {
	if len(sent) == 0 {
		return nil, nil, fault.Invalid(itemfault.CodeMissing, "The request has no "+f.Label+"s. Send at least one.")
	}
	out, err := do(ctx, sent, partial)
	if err != nil {
		return nil, nil, err
	}
	return rpc.BulkResult(ctx, out)
}

// ReadMany returns entries in the order of the ids. path is the path of the ids in the request.
// Unknown ids are failures among the results.
func (f *Editor[M]) ReadMany(ctx context.Context, path string, ids []int64) ([]M, *commonv1.ErrorBody, error) {
	if len(ids) == 0 {
		return nil, nil, missing(path)
	}
	found, err := f.read(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	out := &bulk.Outcome[*commonv1.Ref, M]{}
	for _, id := range ids {
		ref := &commonv1.Ref{Id: proto.Int64(id)}
		if entry, ok := found[id]; ok {
			out.Succeed(ref, entry)
			continue
		}
		out.Fail(ref, fault.FromError(itemfault.NotFound(itemfault.InBody, f.Label, id)))
	}
	return rpc.BulkResult(ctx, out)
}

// RemoveMany deletes entries, all or none. path is the path of the ids in the request.
func (f *Editor[M]) RemoveMany(ctx context.Context, path string, ids []int64) (*emptypb.Empty, error) {
	if len(ids) == 0 {
		return nil, missing(path)
	}
	return &emptypb.Empty{}, f.Remove(ctx, ids, nil, itemfault.InBody)
}

func missing(path string) error {
	return fault.Invalid(itemfault.CodeMissing, path+" is missing.")
}

// InsertTx stores drafts in a transaction, and returns their ids. It stores none if a day is
// locked.
func (f *Editor[M]) InsertTx(ctx context.Context, tx pgx.Tx, drafts []*itemdraft.Draft) ([]int64, error) {
	rows, err := f.insert(ctx, tx, drafts, make([]error, len(drafts)), false)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids, nil
}

// DeleteTx deletes entries in a transaction without an access check. It ignores entries that no
// longer exist. It deletes none if a day of one is locked.
func (f *Editor[M]) DeleteTx(ctx context.Context, tx pgx.Tx, ids []int64) error {
	found, err := f.lockEntries(ctx, tx, rowvisibility.AllPersons(), ids, nil)
	if err != nil {
		return err
	}
	existing := make([]int64, 0, len(ids))
	for _, id := range ids {
		if _, ok := found[id]; ok {
			existing = append(existing, id)
		}
	}
	return f.delete(ctx, tx, existing, found)
}
