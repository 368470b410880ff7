package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Reference declares a property that refers to other resources. A resource cannot be deleted while
// others refer to it.
type Reference struct {
	// Field is the path of the property in the contract, such as
	// "accrual_policies.accrual_code". It may lead through lists. The message at its end
	// has an id and a qualifier, as rotaloom.common.v1.Ref has, or an id and a name. A reference
	// gets the id, the qualifier and the name of its resource when it is stored. The id is an
	// int64; for GUIDs see [Kind.ResolveGUID].
	Field string
	// If tells references from other values of the property. It is nil if all values are
	// references.
	If func(value proto.Message) bool
	// To is the kind of the resources.
	To Target
	// Distinct forbids a second reference to the same resource within the innermost list of the
	// path.
	Distinct bool
}

// Target is a kind that references may point to: a [Kind], or a restriction of one.
type Target interface {
	table() string
	// lock returns the resources of references in their order, and keeps other transactions from
	// deleting the resources until tx ends.
	lock(ctx context.Context, tx pgx.Tx, refs []placedRef) ([]Message, error)
	// check returns an error if the reference at a path must not point to the resource.
	check(path string, resource Message) error
	readNames(ctx context.Context, db pg.Querier, ids []int64) (map[int64]string, error)
}

func (k *Kind[T]) table() string               { return k.Table }
func (k *Kind[T]) check(string, Message) error { return nil }

func (k *Kind[T]) lock(ctx context.Context, tx pgx.Tx, refs []placedRef) ([]Message, error) {
	ids, names, err := k.split(refs)
	if err != nil {
		return nil, err
	}
	list, err := k.query(ctx, tx, k.sql.lockReferenced, tenant.Of(ctx), ids, storable(names))
	if err != nil {
		return nil, err
	}
	list, err = k.inOrder(refs, list)
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(list))
	for i, resource := range list {
		out[i] = resource
	}
	return out, nil
}

func (k *Kind[T]) readNames(ctx context.Context, db pg.Querier, ids []int64) (map[int64]string, error) {
	rows, err := db.Query(ctx, k.sql.names, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("%s: read names: %w", k.Table, err)
	}
	names := make(map[int64]string, len(ids))
	var id int64
	var name string
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		names[id] = name
		return nil
	})
	return names, err
}

// Only restricts the references of a property to some resources of a kind. The check returns an
// error for any other resource; path is the position of the reference in the request.
func (k *Kind[T]) Only(check func(path string, resource T) error) Target {
	return restricted[T]{k, check}
}

type restricted[T Message] struct {
	*Kind[T]
	allow func(path string, resource T) error
}

func (r restricted[T]) check(path string, resource Message) error {
	return r.allow(path, resource.(T))
}

// reference is a compiled Reference.
type reference struct {
	Reference
	fields []protoreflect.FieldDescriptor
}

func newReference(message protoreflect.MessageDescriptor, r Reference) reference {
	out := reference{Reference: r}
	at := message
	for name := range strings.SplitSeq(r.Field, ".") {
		if at == nil || at.Fields().ByName(protoreflect.Name(name)) == nil {
			panic("setup: " + string(message.FullName()) + " has no " + r.Field)
		}
		f := at.Fields().ByName(protoreflect.Name(name))
		out.fields, at = append(out.fields, f), f.Message()
	}
	if at == nil || at.Fields().ByName("id") == nil || at.Fields().ByName("id").Kind() != protoreflect.Int64Kind || nameField(at) == nil {
		panic("setup: " + r.Field + " of " + string(message.FullName()) + " is not a reference")
	}
	return out
}

// nameField returns the property of a reference that contains the name of its resource.
func nameField(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if f := message.Fields().ByName("qualifier"); f != nil {
		return f
	}
	return message.Fields().ByName("name")
}

// placedRef is a reference in a message.
type placedRef struct {
	// path is the position in the request, by the JSON names.
	path string
	// group is equal for the references of one list.
	group string
	// message has an id and a qualifier or a name.
	message protoreflect.Message
}

func (r placedRef) fieldDescriptor(name protoreflect.Name) protoreflect.FieldDescriptor {
	return r.message.Descriptor().Fields().ByName(name)
}

// idAndName returns the id of a reference, or nil, and its name.
func (r placedRef) idAndName() (*int64, string) {
	name := r.message.Get(nameField(r.message.Descriptor())).String()
	if id := r.fieldDescriptor("id"); r.message.Has(id) {
		n := r.message.Get(id).Int()
		return &n, name
	}
	return nil, name
}

// point sets the id and the name that the reference shows.
func (r placedRef) point(id int64, name string) {
	r.message.Set(r.fieldDescriptor("id"), protoreflect.ValueOfInt64(id))
	for _, property := range []protoreflect.Name{"qualifier", "name"} {
		if f := r.fieldDescriptor(property); f != nil {
			r.message.Set(f, protoreflect.ValueOfString(name))
		}
	}
	if f := r.fieldDescriptor("localized_qualifier"); f != nil {
		r.message.Clear(f)
	}
}

// collect returns the references of a property in a resource at a path, in the order of the message.
func (r *reference) collect(path string, resource proto.Message) (out []placedRef) {
	var walk func(m protoreflect.Message, fields []protoreflect.FieldDescriptor, path, group string)
	walk = func(m protoreflect.Message, fields []protoreflect.FieldDescriptor, path, group string) {
		if len(fields) == 0 {
			if r.If != nil && !r.If(m.Interface()) {
				return
			}
			out = append(out, placedRef{path: path, group: group, message: m})
			return
		}
		f := fields[0]
		if !m.Has(f) {
			return
		}
		at := joinPath(path, m.Descriptor(), f)
		if !f.IsList() {
			walk(m.Mutable(f).Message(), fields[1:], at, group)
			return
		}
		list := m.Mutable(f).List()
		for i := range list.Len() {
			walk(list.Get(i).Message(), fields[1:], fmt.Sprintf("%s[%d]", at, i), path)
		}
	}
	walk(resource.ProtoReflect(), r.fields, path, "")
	return out
}

// joinPath returns the JSON path of a property. The only property of a message that the API shows as a
// bare array has the path of its message.
func joinPath(path string, message protoreflect.MessageDescriptor, f protoreflect.FieldDescriptor) string {
	options, _ := proto.GetExtension(message.Options(), optionsv1.E_Message).(*optionsv1.Message)
	if options.GetBareArray() == string(f.Name()) {
		return path
	}
	return strings.TrimPrefix(path+"."+f.JSONName(), ".")
}

// byTarget are the references to one kind.
type byTarget struct {
	to   Target
	refs []placedRef
	// from has the declaration of each reference.
	from []*reference
}

// collectByTarget returns all references of resources, in the order in which their targets are
// locked. The path is the position of the resources in the request.
func (k *Kind[T]) collectByTarget(path string, resources ...T) []*byTarget {
	var targets []*byTarget
	for i := range k.references {
		r := &k.references[i]
		at := slices.IndexFunc(targets, func(t *byTarget) bool { return t.to.table() == r.To.table() })
		if at < 0 {
			at, targets = len(targets), append(targets, &byTarget{to: r.To})
		}
		for _, resource := range resources {
			for _, ref := range r.collect(path, resource) {
				targets[at].refs, targets[at].from = append(targets[at].refs, ref), append(targets[at].from, r)
			}
		}
	}
	slices.SortFunc(targets, func(a, b *byTarget) int { return cmp.Compare(a.to.table(), b.to.table()) })
	return targets
}

// resolveReferences checks the references of a resource, locks their targets until tx ends, and
// writes the ids and names of the targets into the references. The path is the position of the resource
// in a bulk request.
func (k *Kind[T]) resolveReferences(ctx context.Context, tx pgx.Tx, path string, resource T) error {
	for _, t := range k.collectByTarget(path, resource) {
		if len(t.refs) == 0 {
			continue
		}
		found, err := t.to.lock(ctx, tx, t.refs)
		if err != nil {
			return err
		}
		type use struct {
			from  *reference
			group string
			id    int64
		}
		seen := map[use]bool{}
		for i, target := range found {
			ref, from := t.refs[i], t.from[i]
			u := use{from, ref.group, sentID(target)}
			if from.Distinct && seen[u] {
				return fault.Invalid(k.Invalid, fmt.Sprintf("%s repeats %q.", ref.path, target.GetName()))
			}
			seen[u] = true
			if err := from.To.check(ref.path, target); err != nil {
				return err
			}
			ref.point(sentID(target), target.GetName())
		}
	}
	return nil
}

// indexReferences records which resources a stored resource refers to.
func (k *Kind[T]) indexReferences(ctx context.Context, tx pgx.Tx, id int64, resource T) error {
	if len(k.references) == 0 {
		return nil
	}
	var kinds []string
	var ids []int64
	for _, t := range k.collectByTarget("", resource) {
		for _, ref := range t.refs {
			targetID, _ := ref.idAndName()
			kinds, ids = append(kinds, t.to.table()), append(ids, *targetID)
		}
	}
	for _, sql := range []string{deleteReferences, insertReferences} {
		if _, err := tx.Exec(ctx, sql, tenant.Of(ctx), k.Table, id, kinds, ids); err != nil {
			return fmt.Errorf("%s: index references: %w", k.Table, err)
		}
	}
	return nil
}

// Resolve returns the resource of a reference at a path of the request, keeps other transactions from
// deleting the resource until tx ends, and writes its id and name into the reference. It is for
// references of data that are not setup resources: [Resource.CheckUnused] must find these.
func (k *Kind[T]) Resolve(ctx context.Context, tx pgx.Tx, path string, ref *commonv1.Ref) (T, error) {
	placed := placedRef{path: path, message: ref.ProtoReflect()}
	found, err := k.lock(ctx, tx, []placedRef{placed})
	if err != nil {
		var zero T
		return zero, err
	}
	placed.point(sentID(found[0]), found[0].GetName())
	return found[0].(T), nil
}

// NameRefs writes the current names of resources into references by id.
func (k *Kind[T]) NameRefs(ctx context.Context, db pg.Querier, refs ...*commonv1.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	placed := make([]placedRef, len(refs))
	for i, ref := range refs {
		placed[i] = placedRef{message: ref.ProtoReflect()}
	}
	return setNames(ctx, db, k, placed)
}

// SetNames writes the current names of the targets into the references of resources.
func (k *Kind[T]) SetNames(ctx context.Context, db pg.Querier, resources ...T) error {
	for _, t := range k.collectByTarget("", resources...) {
		if len(t.refs) == 0 {
			continue
		}
		if err := setNames(ctx, db, t.to, t.refs); err != nil {
			return err
		}
	}
	return nil
}

func setNames(ctx context.Context, db pg.Querier, to Target, refs []placedRef) error {
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		if id, _ := ref.idAndName(); id != nil {
			ids[i] = *id
		}
	}
	names, err := to.readNames(ctx, db, ids)
	if err != nil {
		return err
	}
	for i, ref := range refs {
		if name, ok := names[ids[i]]; ok {
			ref.point(ids[i], name)
		}
	}
	return nil
}

// checkUnused returns an error if other resources refer to a resource, which the caller has locked.
func (k *Kind[T]) checkUnused(ctx context.Context, tx pgx.Tx, id int64, resource T) error {
	var kind, name string
	var userID int64
	err := tx.QueryRow(ctx, findUser, tenant.Of(ctx), k.Table, id).Scan(&kind, &userID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT name FROM `+pgx.Identifier{kind}.Sanitize()+` WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), userID).Scan(&name)
	}
	if err != nil {
		return fmt.Errorf("%s: find users: %w", k.Table, err)
	}
	return k.InUseError(fmt.Sprintf("The %s %q", strings.ReplaceAll(kind, "_", " "), name), resource)
}

// InUseError returns the error for a resource that cannot be deleted. The user is the subject of
// the message, such as `The pay rule "Nights"`.
func (k *Kind[T]) InUseError(user string, resource T) error {
	return fault.Invalid(cmp.Or(k.InUse, k.Invalid), fmt.Sprintf("%s refers to the %s %q. Change or delete that first.", user, k.What, resource.GetName()))
}
