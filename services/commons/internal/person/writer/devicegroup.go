package writer

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// refuseUnknownDeviceGroups finds the device groups that items change to, writes their names as the
// groups have them, and fails the items with an unknown group. A name that stays is not checked.
func (w *Writer) refuseUnknownDeviceGroups(ctx context.Context, items []*store.Item) error {
	var changed []*store.Item
	var asked []string
	for _, it := range store.Valid(items) {
		if !it.ChangesDeviceGroup() {
			continue
		}
		changed = append(changed, it)
		if name := it.DeviceGroupName(); name != "" {
			asked = append(asked, name)
		}
	}
	slices.Sort(asked)
	known, err := w.findDeviceGroups(ctx, slices.Compact(asked))
	if err != nil {
		return err
	}
	for _, it := range changed {
		name := it.DeviceGroupName()
		if name == "" {
			continue
		}
		group, ok := known[name]
		if !ok {
			it.Err = fault.Invalid(rules.CodeBadValue,
				fmt.Sprintf("jobAssignment.jobAssignmentDetails.deviceGroupName: there is no device group with the name %.100q.", name))
			continue
		}
		it.DeviceGroup = group
		it.Message.GetJobAssignment().GetJobAssignmentDetails().DeviceGroupName = group.Name
	}
	return nil
}

// findDeviceGroups returns the device groups with the names, compared without case. It waits briefly
// for unknown ones.
func (w *Writer) findDeviceGroups(ctx context.Context, names []string) (known map[string]store.DeviceGroup, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	err = awaitCopy(ctx, func() (bool, error) {
		known, err = store.FindDeviceGroups(ctx, w.pool, names)
		return len(known) == len(names), err
	})
	return known, err
}
