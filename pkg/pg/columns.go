package pg

import (
	"reflect"
	"slices"
)

// Columns returns rows as the parameters of a statement that reads them with unnest: first the given
// parameters, then one slice for each field of R, in the order of the fields. R is a struct with exported
// fields only.
func Columns[R any](rows []R, first ...any) []any {
	fields := reflect.TypeFor[R]()
	args := slices.Grow(slices.Clone(first), fields.NumField())
	values := reflect.ValueOf(rows)
	for i := range fields.NumField() {
		column := reflect.MakeSlice(reflect.SliceOf(fields.Field(i).Type), len(rows), len(rows))
		for at := range rows {
			column.Index(at).Set(values.Index(at).Field(i))
		}
		args = append(args, column.Interface())
	}
	return args
}
