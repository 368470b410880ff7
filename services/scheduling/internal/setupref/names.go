package setupref

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Former is a former name of an object, in lower case, and the name that the object has now.
type Former struct {
	Kind    Property
	ID      int64
	Key     string
	Present string
	// ByName reports that references with only this name mean this object: no other object got the name
	// after it.
	ByName bool
}

// SelectFormer is a statement for the former names of a tenant.
const SelectFormer = `
SELECT f.kind, f.resource_id, f.name_key, f.present_name,
    NOT f.released
    AND NOT EXISTS (SELECT FROM setup_former_name o WHERE o.tenant_id = $1 AND o.kind = f.kind AND o.name_key = f.name_key
        AND o.changed_at > f.changed_at AND NOT o.released)
    AND NOT EXISTS (SELECT FROM tag_definition d WHERE f.kind = 'tagdefinition' AND d.tenant_id = $1 AND lower(d.name) = f.name_key AND d.id <> f.resource_id) AS by_name
FROM setup_former_name f WHERE f.tenant_id = $1`

// Names are the present names of renamed objects. The nil Names has none.
type Names struct {
	byID   map[object]string
	byName map[formerName]string
	digest string
}

type object struct {
	kind Property
	id   int64
}

type formerName struct {
	kind Property
	key  string
}

// NewNames returns the present names of the objects with former names; nil without any.
func NewNames(list []Former) *Names {
	if len(list) == 0 {
		return nil
	}
	n := &Names{byID: map[object]string{}, byName: map[formerName]string{}}
	lines := make([]string, len(list))
	for i, f := range list {
		n.byID[object{f.Kind, f.ID}] = f.Present
		if f.ByName {
			n.byName[formerName{f.Kind, f.Key}] = f.Present
		}
		lines[i] = fmt.Sprintf("%s %d %q %q %t", f.Kind, f.ID, f.Key, f.Present, f.ByName)
	}
	slices.Sort(lines)
	digest := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	n.digest = string(digest[:])
	return n
}

// ReadNames reads the present names of renamed objects.
func ReadNames(ctx context.Context, db pg.Querier) (*Names, error) {
	list, err := pg.Collect(ctx, db, pgx.RowToStructByPos[Former], SelectFormer, tenant.Of(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the former names of setup: %w", err)
	}
	return NewNames(list), nil
}

// Digest is different for different names; it is "" for nil.
func (n *Names) Digest() string {
	if n == nil {
		return ""
	}
	return n.digest
}

// Apply writes the present names into the references and transfer strings of a message, and reports whether
// one was another text.
func (n *Names) Apply(m proto.Message) (changed bool) {
	if n == nil {
		return false
	}
	visit(m.ProtoReflect(), func(field string, ref *commonv1.Ref) bool {
		name, renamed := n.present(field, ref)
		if renamed && ref.Qualifier != nil && ref.GetQualifier() != name {
			ref.Qualifier, changed = &name, true
		}
		return true
	}, func(transfer string, replace func(string)) bool {
		if shown := n.transfer(transfer); shown != transfer {
			replace(shown)
			changed = true
		}
		return true
	})
	return changed
}

// transfer returns a transfer string with the present name of its work rule. A name with a semicolon cannot
// be in a transfer string: the former name stays.
func (n *Names) transfer(text string) string {
	rule := transferredRule(text)
	name, renamed := n.byName[formerName{WorkRule, strings.ToLower(rule)}]
	if rule == "" || !renamed || name == rule || strings.Contains(name, ";") {
		return text
	}
	job, rest, _ := strings.Cut(text, ";")
	return job + ";" + strings.Replace(rest, rule, name, 1)
}

// present returns the present name of a renamed object that a field refers to.
func (n *Names) present(field string, ref *commonv1.Ref) (name string, renamed bool) {
	kind := fieldKind(field)
	if ref.Id != nil {
		name, renamed = n.byID[object{kind, ref.GetId()}]
	} else {
		name, renamed = n.byName[formerName{kind, strings.ToLower(ref.GetQualifier())}]
	}
	return name, renamed
}

// renamable are the kinds of objects whose former names are kept.
var renamable = []Property{TagDefinition, PayCode, WorkRule}

// fieldKind returns the kind of objects that a field refers to; "" if their former names are not kept.
func fieldKind(field string) Property {
	for _, kind := range renamable {
		if strings.Contains(field, string(kind)) {
			return kind
		}
	}
	return ""
}

// Show writes the present names of renamed objects into messages for a response.
func Show[M proto.Message](ctx context.Context, db pg.Querier, messages ...M) error {
	if !slices.ContainsFunc(messages, func(m M) bool { return hasRenamable(m) }) {
		return nil
	}
	names, err := ReadNames(ctx, db)
	if err != nil {
		return err
	}
	for _, m := range messages {
		names.Apply(m)
	}
	return nil
}

// hasRenamable reports whether a message refers to an object that may have another name now.
func hasRenamable(m proto.Message) bool {
	return !visit(m.ProtoReflect(), func(field string, _ *commonv1.Ref) bool { return fieldKind(field) == "" },
		func(transfer string, _ func(string)) bool { return transferredRule(transfer) == "" })
}

const (
	keepFormer = `
INSERT INTO setup_former_name (tenant_id, kind, resource_id, name_key, present_name) VALUES ($1, $2, $3, lower($4), $5)
ON CONFLICT (tenant_id, kind, resource_id, name_key) DO UPDATE SET changed_at = excluded.changed_at`
	setPresent   = `UPDATE setup_former_name SET present_name = $4 WHERE tenant_id = $1 AND kind = $2 AND resource_id = $3`
	deleteFormer = `DELETE FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND resource_id = $3`
	listFormer   = `SELECT f.name_key FROM (` + SelectFormer + `) AS f WHERE f.kind = $2 AND f.resource_id = $3 AND f.by_name`
	findOwner    = `SELECT present_name FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND name_key = lower($3) AND resource_id <> $4 LIMIT 1`
)

// KeepFormer keeps the former name of an object that gets another name.
func KeepFormer(ctx context.Context, tx pgx.Tx, kind Property, id int64, former, present string) error {
	_, err := tx.Exec(ctx, keepFormer, tenant.Of(ctx), kind, id, former, present)
	if err == nil {
		_, err = tx.Exec(ctx, setPresent, tenant.Of(ctx), kind, id, present)
	}
	if err != nil {
		return fmt.Errorf("keep the former name of the %s %d: %w", kind, id, err)
	}
	return nil
}

// DeleteFormer deletes the former names of an object.
func DeleteFormer(ctx context.Context, tx pgx.Tx, kind Property, id int64) error {
	if _, err := tx.Exec(ctx, deleteFormer, tenant.Of(ctx), kind, id); err != nil {
		return fmt.Errorf("delete the former names of the %s %d: %w", kind, id, err)
	}
	return nil
}

// FormerNames returns the former names of an object, in lower case, without names that another object got
// after it.
func FormerNames(ctx context.Context, db pg.Querier, kind Property, id int64) ([]string, error) {
	names, err := pg.Collect(ctx, db, pgx.RowTo[string], listFormer, tenant.Of(ctx), kind, id)
	if err != nil {
		return nil, fmt.Errorf("read the former names of the %s %d: %w", kind, id, err)
	}
	return names, nil
}

// FormerOwner returns the present name of another object that had a name; "" without one.
func FormerOwner(ctx context.Context, db pg.Querier, kind Property, id int64, name string) (string, error) {
	found, err := pg.Collect(ctx, db, pgx.RowTo[string], findOwner, tenant.Of(ctx), kind, name, id)
	if err != nil {
		return "", fmt.Errorf("find the owner of a former name: %w", err)
	}
	return strings.Join(found, ""), nil
}
