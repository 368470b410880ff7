package structure

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Split returns the ids of references, and the qualifiers of references without an id.
func Split(refs []*commonv1.Ref) (ids []int64, names []string) {
	for _, ref := range refs {
		if ref.Id != nil {
			ids = append(ids, ref.GetId())
		} else {
			names = append(names, ref.GetQualifier())
		}
	}
	return ids, names
}

// Resolve returns the ids that references name, in order. An id takes precedence over a
// qualifier. find must return rows with an id and a name: existing ids with a NULL name, and
// names with their ids, or NULL if a name is unknown. unknown returns the error for an
// unknown reference.
func Resolve(refs []*commonv1.Ref, find func(ids []int64, names []string) (pgx.Rows, error), unknown func(*commonv1.Ref) error) ([]int64, error) {
	rows, err := find(Split(refs))
	if err != nil {
		return nil, fmt.Errorf("look for references: %w", err)
	}
	known, named := map[int64]bool{}, map[string]int64{}
	var id *int64
	var name *string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		switch {
		case id == nil:
		case name == nil:
			known[*id] = true
		default:
			named[*name] = *id
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look for references: %w", err)
	}
	out := make([]int64, len(refs))
	for i, ref := range refs {
		id, ok := named[ref.GetQualifier()]
		if ref.Id != nil {
			id, ok = ref.GetId(), known[ref.GetId()]
		}
		if !ok {
			return nil, unknown(ref)
		}
		out[i] = id
	}
	return out, nil
}
