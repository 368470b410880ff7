package policy

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Permissions returns every permission that the contracts name, in order.
func (t *Table) Permissions() []string {
	var all []string
	t.files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				if opts := methodOptions(methods.Get(j)); opts.GetPermission() != "" {
					all = append(all, opts.GetPermission())
				}
			}
		}
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}
