package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// A kind has GUIDs if the id of its message is a text. Its rows keep their int64 ids, which versions,
// references and foreign keys use and callers never see. The GUID of a row never changes.

// GetGUID is Get for a kind with GUIDs.
func (r *Resource[T]) GetGUID(ctx context.Context, guid string) (out T, err error) {
	id, err := r.Kind.findGUID(ctx, r.Pool, guid)
	if err != nil {
		return out, err
	}
	return r.Get(ctx, id)
}

// UpdateGUID is Update for a kind with GUIDs.
func (r *Resource[T]) UpdateGUID(ctx context.Context, guid string, sent T) (out T, err error) {
	id, err := r.Kind.findGUID(ctx, r.Pool, guid)
	if err != nil {
		return out, err
	}
	if inBody := sentGUID(sent); inBody != "" && inBody != canonical(guid) {
		return out, fault.Invalid(r.Kind.OtherID, fmt.Sprintf("The id %.40q in the body is not the id in the path.", inBody)).WithMembers("id")
	}
	return r.Update(ctx, id, sent)
}

// ChangeGUID changes some properties of the resource with a GUID, and keeps the others.
func (r *Resource[T]) ChangeGUID(ctx context.Context, guid string, change func(resource T)) (out T, err error) {
	id, err := r.Kind.findGUID(ctx, r.Pool, guid)
	if err != nil {
		return out, err
	}
	var version int64
	err = pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) error {
		resource, err := r.Kind.GetForUpdate(ctx, tx, id)
		if err != nil {
			return err
		}
		change(resource)
		out, version, err = r.replace(ctx, tx, r.Kind.Path, id, resource)
		return err
	})
	if err != nil {
		return out, err
	}
	return out, r.reportVersion(ctx, version)
}

// DeleteGUID is Delete for a kind with GUIDs.
func (r *Resource[T]) DeleteGUID(ctx context.Context, guid string, version *int64) (*emptypb.Empty, error) {
	id, err := r.Kind.findGUID(ctx, r.Pool, guid)
	if err != nil {
		return nil, err
	}
	return r.Delete(ctx, id, version)
}

// GUIDRef is a reference to a resource of a kind with GUIDs.
type GUIDRef interface {
	proto.Message
	GetId() string
	GetName() string
}

// ResolveGUID returns the resource of a reference at a path of the request with its int64 id, for
// foreign keys, and keeps other transactions from deleting the resource until tx ends. It writes
// the GUID and the name into the reference. The GUID has priority over the name. [Resource.CheckUnused]
// must find the data that refers to the resource.
func (k *Kind[T]) ResolveGUID(ctx context.Context, tx pgx.Tx, path string, ref GUIDRef) (resource T, id int64, err error) {
	var guid *string
	switch text := canonical(ref.GetId()); {
	case text != "":
		guid = &text
	case ref.GetId() != "" || len(storable([]string{ref.GetName()})) == 0:
		return resource, 0, k.unknownGUIDError(path, ref)
	case ref.GetName() == "":
		return resource, 0, fault.Invalid(k.Missing, path+".id is missing.").WithMembers(path)
	}
	list, stored, err := k.queryIdentities(ctx, tx, k.sql.lockGUID, tenant.Of(ctx), guid, ref.GetName())
	switch {
	case err != nil:
		return resource, 0, err
	case len(list) == 0:
		return resource, 0, k.unknownGUIDError(path, ref)
	}
	m := ref.ProtoReflect()
	fields := m.Descriptor().Fields()
	m.Set(fields.ByName("id"), protoreflect.ValueOfString(stored[0].guid))
	m.Set(fields.ByName("name"), protoreflect.ValueOfString(list[0].GetName()))
	return list[0], stored[0].id, nil
}

// findGUID returns the int64 id of a GUID in the path of a request, or a fault with the status 404.
func (k *Kind[T]) findGUID(ctx context.Context, db pg.Querier, guid string) (id int64, err error) {
	text := canonical(guid)
	if text != "" {
		err = db.QueryRow(ctx, k.sql.byGUID, tenant.Of(ctx), text).Scan(&id)
	}
	switch {
	case text == "" || errors.Is(err, pgx.ErrNoRows):
		return 0, fault.NotFound(k.Unknown, fmt.Sprintf("There is no %s with the id %.40q.", k.What, guid))
	case err != nil:
		return 0, fmt.Errorf("%s: find a GUID: %w", k.Table, err)
	}
	return id, nil
}

func (k *Kind[T]) unknownGUIDError(path string, ref GUIDRef) error {
	text := fmt.Sprintf("%.100q", ref.GetName())
	if ref.GetId() != "" {
		text = fmt.Sprintf("with the id %.40q", ref.GetId())
	}
	return fault.Invalid(k.Unknown, fmt.Sprintf("The %s %s (%s) does not exist.", k.What, text, path)).WithMembers(path)
}

// canonical returns a GUID in lower case, or "" for another text.
func canonical(guid string) string {
	parsed, err := uuid.Parse(guid)
	if err != nil || len(guid) != len(uuid.Nil.String()) {
		return ""
	}
	return parsed.String()
}

// identity has the columns of a row that the product sets.
type identity struct {
	id, version int64
	// The other columns exist for kinds with GUIDs.
	guid                 string
	createdAt, updatedAt time.Time
}

// columns returns the destinations of {identity} in statements.
func (i *identity) columns(guids bool) []any {
	columns := []any{&i.id, &i.version}
	if guids {
		columns = append(columns, &i.guid, &i.createdAt, &i.updatedAt)
	}
	return columns
}

// fillGUID sets the GUID and the times of a message that has GUIDs.
func (k *Kind[T]) fillGUID(m protoreflect.Message, stored identity) {
	m.Set(k.id, protoreflect.ValueOfString(stored.guid))
	set := func(f protoreflect.FieldDescriptor, at time.Time) {
		if f != nil {
			m.Set(f, protoreflect.ValueOfString(at.UTC().Format(time.RFC3339)))
		}
	}
	set(k.createdAt, stored.createdAt)
	set(k.updatedAt, stored.updatedAt)
}

// sentID returns the int64 id of a message, or 0 if it has none, as messages with GUIDs.
func sentID(resource Message) int64 {
	m := resource.ProtoReflect()
	if f := m.Descriptor().Fields().ByName("id"); f.Kind() == protoreflect.Int64Kind {
		return m.Get(f).Int()
	}
	return 0
}

// sentGUID returns the GUID in a message, in lower case, or "" if it has none.
func sentGUID(resource Message) string {
	m := resource.ProtoReflect()
	return strings.ToLower(m.Get(m.Descriptor().Fields().ByName("id")).String())
}
