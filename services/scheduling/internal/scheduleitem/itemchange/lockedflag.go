package itemchange

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
)

// clearEchoedLocks clears the property locked of drafts whose entries do not store it. Clients send it
// back from a response that had it because the day was locked. If it were stored, the entry would
// appear locked after the day is unlocked.
func (f *Editor[M]) clearEchoedLocks(list []replacement) error {
	field := f.Make().ProtoReflect().Descriptor().Fields().ByName("locked")
	if field == nil {
		return nil
	}
	for _, r := range list {
		if r.was.row != nil {
			_, locked, err := f.decodeLock(r.was.row.Body, field)
			switch {
			case err != nil:
				return err
			case locked:
				continue
			}
		}
		if r.draft.Segmented != nil {
			r.draft.Segmented.ProtoReflect().Clear(field)
			continue
		}
		sent, locked, err := f.decodeLock(r.draft.Body, field)
		if err != nil {
			return err
		}
		if !locked {
			continue
		}
		sent.ProtoReflect().Set(field, protoreflect.ValueOfBool(false))
		if r.draft.Body, err = itemdraft.Encode(sent); err != nil {
			return err
		}
	}
	return nil
}

// decodeLock returns the entry of a stored body, and whether it stores locked.
func (f *Editor[M]) decodeLock(body []byte, field protoreflect.FieldDescriptor) (m M, locked bool, err error) {
	m = f.Make()
	if err := proto.Unmarshal(body, m); err != nil {
		return m, false, fmt.Errorf("itemchange: read the lock of an entry: %w", err)
	}
	return m, m.ProtoReflect().Get(field).Bool(), nil
}
