package scheduleitem

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
)

// Directory finds the employees that requests name, as
// [projection.Resolver.Employees] does.
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	// Visible returns whom the caller may see. It is not asked inside a
	// transaction.
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Settings bound what may be entered.
type Settings struct {
	MaxShift time.Duration `name:"max-entered-shift" env:"MAX_ENTERED_SHIFT" default:"24h" help:"Longest shift that may be entered by hand."`
}

// Deps is what the handlers work with.
type Deps struct {
	Pool      *pg.Pool
	Directory Directory
	Reader    *reading.Reader
	// Templates are those that shifts can be made from.
	Templates patterndefinition.ShiftSource
	// TagDefinitions say what schedule tags may say.
	TagDefinitions *tagdefinition.Store
	// Wake is called after a change was committed that has an event.
	Wake     func()
	Settings Settings
}

const defaultMaxShift = 24 * time.Hour

func (d Deps) maxShift() time.Duration {
	if d.Settings.MaxShift <= 0 {
		return defaultMaxShift
	}
	return d.Settings.MaxShift
}

// entry is a message of one of the kinds.
type entry interface {
	proto.Message
	GetEmployee() *commonv1.Ref
	GetId() int64
}

// family is what the kinds of entries have in common, with what they differ in.
type family[M entry] struct {
	Deps
	kind  string
	label string // "shift", for messages
	// complete returns what was sent with what it refers to, and notes what is wrong with an
	// entry; nil for kinds that refer to nothing.
	complete func(ctx context.Context, tenantID int64, sent []M, failed []error) ([]M, error)
	// draft checks an entry as it was sent.
	draft func(sent M, employee *projection.Employee) (*itemdraft.Draft, error)
	// make returns an empty entry; fill gives it what is not in its body.
	make func() M
	fill func(m M, id int64, employee *projection.Employee, version int64, locked bool)
	// version is the version that the caller read, nil if not said.
	version func(sent M) *int64
	// generated reports whether a generated entry is of this kind, and shows it.
	generated func(g *reading.Generated) bool
	show      func(g *reading.Generated, employee *projection.Employee) (M, error)
	// shown returns a stored body as responses show it to be of an employee; nil when it is
	// shown as it is stored.
	shown func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error)
}

// drafts checks entries as they were sent, each for its employee. It fails with the first that
// is wrong, or, with partial, notes each that is.
func (f *family[M]) drafts(ctx context.Context, tenantID int64, sent []M, employees []*projection.Employee, failed []error, partial bool) ([]*itemdraft.Draft, error) {
	if f.complete != nil {
		var err error
		if sent, err = f.complete(ctx, tenantID, sent, failed); err != nil {
			return nil, err
		}
	}
	drafts := make([]*itemdraft.Draft, len(sent))
	for i, m := range sent {
		if failed[i] == nil {
			drafts[i], failed[i] = f.draft(m, employees[i])
		}
		if failed[i] != nil && !(partial && concernsItem(failed[i])) {
			return nil, failed[i]
		}
	}
	return drafts, nil
}

// decode returns the entry of a stored row.
func (f *family[M]) decode(r *itemstore.Row, employee *projection.Employee) (M, error) {
	m, body := f.make(), r.Body
	if f.shown != nil && employee != nil {
		var err error
		if body, err = f.shown(body, employee, r.From); err != nil {
			return m, err
		}
	}
	if err := proto.Unmarshal(body, m); err != nil {
		return m, err
	}
	f.fill(m, r.ID, employee, r.Version, r.Locked)
	return m, nil
}

// settled runs an operation on several entries, of which at least one must have been
// sent, and returns what its response shows.
func (f *family[M]) settled(
	ctx context.Context, sent []M, partial bool, do func(context.Context, []M, bool) (*bulk.Outcome[M, M], error),
) ([]M, *commonv1.ErrorBody, error) {
	if len(sent) == 0 {
		return nil, nil, fault.Invalid(itemfault.CodeMissing, "No "+f.label+" was sent.")
	}
	out, err := do(ctx, sent, partial)
	if err != nil {
		return nil, nil, err
	}
	return rpc.Settled(ctx, out)
}

// readMany returns entries in the order of the ids, which stand at a path in the request.
// Ids that name nothing are failures among the results.
func (f *family[M]) readMany(ctx context.Context, path string, ids []int64) ([]M, *commonv1.ErrorBody, error) {
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
		out.Fail(ref, fault.FromError(itemfault.NotFound(unknownInBody, f.label, id)))
	}
	return rpc.Settled(ctx, out)
}

// removeMany deletes entries, all or none. Their ids stand at a path in the request.
func (f *family[M]) removeMany(ctx context.Context, path string, ids []int64) (*emptypb.Empty, error) {
	if len(ids) == 0 {
		return nil, missing(path)
	}
	return &emptypb.Empty{}, f.remove(ctx, ids, nil, unknownInBody)
}

func missing(path string) error {
	return fault.Invalid(itemfault.CodeMissing, path+" is missing.")
}
