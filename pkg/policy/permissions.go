package policy

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Permissions returns the permissions in the contracts, in order.
func (t *Table) Permissions() []string {
	return t.collect(func(opts *optionsv1.Method) []string {
		if opts.GetPermission() == "" {
			return nil
		}
		return []string{opts.GetPermission()}
	})
}

// OwnRecordActions returns the actions on one's own record in the contracts, in order.
func (t *Table) OwnRecordActions() []string {
	return t.collect(func(opts *optionsv1.Method) []string { return opts.GetOwnRecord().GetActions() })
}

// collect returns the distinct results of read for the options of the methods, in order.
func (t *Table) collect(read func(*optionsv1.Method) []string) []string {
	var all []string
	t.files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				all = append(all, read(methodOptions(methods.Get(j)))...)
			}
		}
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}
