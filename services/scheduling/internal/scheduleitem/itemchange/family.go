// Package itemchange reads, makes, replaces and deletes entries of a schedule: what their
// kinds have in common. Every change takes the employees' lock first, so that a day cannot be
// locked, nor its spans be changed, while an entry of it is edited.
package itemchange

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Directory finds the employees that requests name, as
// [projection.Resolver.Employees] does.
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	// Visible returns whom the caller may see. It is not asked inside a
	// transaction.
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Deps is what entries are read and changed with.
type Deps struct {
	Pool      *pg.Pool
	Directory Directory
	Reader    *reading.Reader
}

// Entry is a message of one of the kinds.
type Entry interface {
	proto.Message
	GetEmployee() *commonv1.Ref
	GetId() int64
}

// Family is what the kinds of entries have in common, with what they differ in.
type Family[M Entry] struct {
	Deps
	Kind  string
	Label string // "shift", for messages
	// Complete returns what was sent with what it refers to, and notes what is wrong with an
	// entry; nil for kinds that refer to nothing.
	Complete func(ctx context.Context, tenantID int64, sent []M, failed []error) ([]M, error)
	// Draft checks an entry as it was sent.
	Draft func(sent M, employee *projection.Employee) (*itemdraft.Draft, error)
	// Make returns an empty entry; Fill gives it what is not in its body.
	Make func() M
	Fill func(m M, id int64, employee *projection.Employee, version int64, locked bool)
	// Version is the version that the caller read, nil if not said.
	Version func(sent M) *int64
	// Generated reports whether a generated entry is of this kind, and Show shows it.
	Generated func(g *reading.Generated) bool
	Show      func(g *reading.Generated, employee *projection.Employee) (M, error)
	// Shown returns a stored body as responses show it to be of an employee; nil when it is
	// shown as it is stored.
	Shown func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error)
}

// drafts checks entries as they were sent, each for its employee. It fails with the first that
// is wrong, or, with partial, notes each that is.
func (f *Family[M]) drafts(ctx context.Context, tenantID int64, sent []M, employees []*projection.Employee, failed []error, partial bool) ([]*itemdraft.Draft, error) {
	if f.Complete != nil {
		var err error
		if sent, err = f.Complete(ctx, tenantID, sent, failed); err != nil {
			return nil, err
		}
	}
	drafts := make([]*itemdraft.Draft, len(sent))
	for i, m := range sent {
		if failed[i] == nil {
			drafts[i], failed[i] = f.Draft(m, employees[i])
		}
		if failed[i] != nil && !(partial && ConcernsItem(failed[i])) {
			return nil, failed[i]
		}
	}
	return drafts, nil
}

// decode returns the entry of a stored row.
func (f *Family[M]) decode(r *itemstore.Row, employee *projection.Employee) (M, error) {
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

// RunBulk runs an operation on several entries, of which at least one must have been
// sent, and returns what its response shows.
func (f *Family[M]) RunBulk(
	ctx context.Context, sent []M, partial bool, do func(context.Context, []M, bool) (*bulk.Outcome[M, M], error),
) ([]M, *commonv1.ErrorBody, error) {
	if len(sent) == 0 {
		return nil, nil, fault.Invalid(itemfault.CodeMissing, "No "+f.Label+" was sent.")
	}
	out, err := do(ctx, sent, partial)
	if err != nil {
		return nil, nil, err
	}
	return rpc.BulkResult(ctx, out)
}

// ReadMany returns entries in the order of the ids, which stand at a path in the request.
// Ids that name nothing are failures among the results.
func (f *Family[M]) ReadMany(ctx context.Context, path string, ids []int64) ([]M, *commonv1.ErrorBody, error) {
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

// RemoveMany deletes entries, all or none. Their ids stand at a path in the request.
func (f *Family[M]) RemoveMany(ctx context.Context, path string, ids []int64) (*emptypb.Empty, error) {
	if len(ids) == 0 {
		return nil, missing(path)
	}
	return &emptypb.Empty{}, f.Remove(ctx, ids, nil, itemfault.InBody)
}

func missing(path string) error {
	return fault.Invalid(itemfault.CodeMissing, path+" is missing.")
}

// Put stores drafts in a transaction, and returns their ids. It refuses all when a day is
// locked.
func (f *Family[M]) Put(ctx context.Context, tx pgx.Tx, tenantID int64, drafts []*itemdraft.Draft) ([]int64, error) {
	rows, err := f.insert(ctx, tx, tenantID, drafts, make([]error, len(drafts)), false)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids, nil
}

// Take deletes entries in a transaction, whoever they are of. Those that are gone already
// are passed over. It refuses all when a day of one is locked.
func (f *Family[M]) Take(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) error {
	found, err := f.lockEntries(ctx, tx, tenantID, rowvisibility.AllPersons(), ids, nil)
	if err != nil {
		return err
	}
	there := make([]int64, 0, len(ids))
	for _, id := range ids {
		if _, ok := found[id]; ok {
			there = append(there, id)
		}
	}
	return f.delete(ctx, tx, tenantID, there, found)
}
