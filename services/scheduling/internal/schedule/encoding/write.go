package encoding

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// writer appends the bytes of the response. Sizes are computed first, so that the buffer is
// allocated once.
type writer struct {
	window.MessageWriter
	// send sends a part of the response and returns a buffer for the next part. It is nil if the
	// response must be in one piece.
	send func(fields []byte) (next []byte, err error)
}

// listSize returns the length of a list message with the entries as items.
func (w *writer) listSize(entries []window.Entry) int {
	total := 0
	for i := range entries {
		total += 1 + protowire.SizeBytes(w.Size(&entries[i]))
	}
	return total
}

// partEntries is the number of entries in a part that is sent ahead. It is small, so that the
// caller can start early.
const partEntries = 400

// appendList appends a field with a list of the entries and the other encoded items. It may send parts
// ahead.
func (w *writer) appendList(field protowire.Number, entries []window.Entry, other []byte) error {
	for w.send != nil && len(entries) > partEntries {
		err := w.appendEntries(field, entries[:partEntries], nil)
		if err != nil {
			return err
		}
		if w.Out, err = w.send(w.Out); err != nil {
			return err
		}
		entries = entries[partEntries:]
	}
	return w.appendEntries(field, entries, other)
}

func (w *writer) appendEntries(field protowire.Number, entries []window.Entry, other []byte) error {
	size := len(other) + w.listSize(entries)
	w.Out = slices.Grow(w.Out, 1+protowire.SizeBytes(size))
	w.Out = protowire.AppendTag(w.Out, field, protowire.BytesType)
	w.Out = protowire.AppendVarint(w.Out, uint64(size))
	if err := w.appendItems(entries); err != nil {
		return err
	}
	w.Out = append(w.Out, other...)
	return nil
}

// appendItems appends the items of a list.
func (w *writer) appendItems(entries []window.Entry) error {
	for i := range entries {
		w.Out = append(w.Out, itemTag)
		w.Out = protowire.AppendVarint(w.Out, uint64(w.Size(&entries[i])))
		if err := w.AppendEntry(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}
