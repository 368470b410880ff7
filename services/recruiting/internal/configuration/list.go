package configuration

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// list has the operations of a kind.
type list[T object] struct {
	setup.Resource[T]
	kind Kind[T]
	// complete has the tenants that have the default objects.
	complete *sync.Map
}

func newList[T object](kind Kind[T], pool *pg.Pool) list[T] {
	return list[T]{kind: kind, complete: &sync.Map{}, Resource: setup.Resource[T]{
		Kind: kind.Kind, Pool: pool, Prepare: prepare[T], Check: func(ctx context.Context, tx pgx.Tx, id int64, o T) error {
			if process, ok := any(o).(*recruitingv1.RecruitingProcess); ok {
				return keepSteps(ctx, tx, id, process)
			}
			return nil
		},
	}}
}

// prepare makes an object active by default.
func prepare[T object](_ string, o T) (T, error) {
	if active := property(o, "is_active"); !o.ProtoReflect().Has(active) {
		o.ProtoReflect().Set(active, protoreflect.ValueOfBool(true))
	}
	return o, nil
}

const givesDefaults pg.Unaudited = "a tenant gets its default objects when a caller reads them first"

// all returns all objects, by name.
func (l *list[T]) all(ctx context.Context) ([]T, error) {
	if _, ok := l.complete.Load(tenant.Of(ctx)); !ok {
		if err := givesDefaults.InTx(ctx, l.Pool, l.kind.giveDefaults); err != nil {
			return nil, err
		}
		l.complete.Store(tenant.Of(ctx), true)
	}
	return l.List(ctx, nil, nil)
}

// archive sets whether new objects may refer to an object.
func (l *list[T]) archive(ctx context.Context, req *recruitingv1.ArchiveConfigurationRequest) (T, error) {
	return l.ChangeGUID(ctx, req.GetId(), func(o T) {
		o.ProtoReflect().Set(property(o, "is_active"), protoreflect.ValueOfBool(req.GetIsActive()))
	})
}

// Resolve returns the active object of a reference at a path of the request with its int64 id, for
// foreign keys, and locks it until tx ends. It writes the GUID and the name into the reference. For
// a reference that a stored object keeps, which may be to an archived object, use ResolveGUID.
func (k Kind[T]) Resolve(ctx context.Context, tx pgx.Tx, path string, ref setup.GUIDRef) (o T, id int64, err error) {
	if ref.GetId() == "" {
		if err := k.giveDefaults(ctx, tx); err != nil {
			return o, 0, err
		}
	}
	o, id, err = k.ResolveGUID(ctx, tx, path, ref)
	if err == nil && !o.GetIsActive() {
		err = fault.Invalid(CodeArchived, fmt.Sprintf("The %s %q (%s) is archived. Name an active one.", k.What, o.GetName(), path)).WithMembers(path)
	}
	return o, id, err
}

const lockDefaults advisory.Lock = "default objects of recruiting"

const (
	readGiven   = `SELECT name FROM default_configuration WHERE tenant_id = $1 AND kind = $2`
	recordGiven = `INSERT INTO default_configuration (tenant_id, kind, name) SELECT $1, $2, unnest($3::text[])`
)

// giveDefaults stores the default objects that the tenant never had. Objects that an administrator
// renamed are not stored again.
func (k Kind[T]) giveDefaults(ctx context.Context, tx pgx.Tx) error {
	missing, err := k.missingDefaults(ctx, tx)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := lockDefaults.Wait(ctx, tx); err != nil {
		return err
	}
	if missing, err = k.missingDefaults(ctx, tx); err != nil || len(missing) == 0 {
		return err
	}
	names := make([]string, len(missing))
	for i, o := range missing {
		names[i] = o.GetName()
	}
	stored, err := k.Find(ctx, tx, nil, names)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, o := range stored {
		taken[strings.ToLower(o.GetName())] = true
	}
	for _, o := range missing {
		if taken[strings.ToLower(o.GetName())] {
			continue
		}
		if _, err := k.Insert(ctx, tx, withIDs(o)); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, recordGiven, tenant.Of(ctx), k.Table, names); err != nil {
		return fmt.Errorf("record default %ss: %w", k.What, err)
	}
	return nil
}

// missingDefaults returns the default objects that the tenant was never given.
func (k Kind[T]) missingDefaults(ctx context.Context, db pg.Querier) (missing []T, err error) {
	if len(k.defaults) == 0 {
		return nil, nil
	}
	names, err := pg.Collect(ctx, db, pgx.RowTo[string], readGiven, tenant.Of(ctx), k.Table)
	if err != nil {
		return nil, fmt.Errorf("read default %ss: %w", k.What, err)
	}
	given := map[string]bool{}
	for _, name := range names {
		given[name] = true
	}
	for _, o := range k.defaults {
		if !given[o.GetName()] {
			missing = append(missing, o)
		}
	}
	return missing, nil
}

// withIDs returns a copy of a default object that is active; the steps of a process get ids.
func withIDs[T object](o T) T {
	o, _ = prepare("", proto.CloneOf(o)) // It never fails.
	if process, ok := any(o).(*recruitingv1.RecruitingProcess); ok {
		_ = identifySteps(process, nil) // It cannot fail without stored steps and without ids.
	}
	return o
}

func setLinks(o object, links ...*recruitingv1.Link) {
	f := property(o, "links")
	o.ProtoReflect().Clear(f)
	for _, link := range links {
		o.ProtoReflect().Mutable(f).List().Append(protoreflect.ValueOfMessage(link.ProtoReflect()))
	}
}

func property(o object, name protoreflect.Name) protoreflect.FieldDescriptor {
	return o.ProtoReflect().Descriptor().Fields().ByName(name)
}
