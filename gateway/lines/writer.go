package lines

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/wire"
)

// writeFrom is the number of bytes from which lines are written: a few TLS records.
const writeFrom = 64 << 10

var (
	// errLate reports a failure that replaces a response after lines of it were written.
	errLate = errors.New("lines: a failure after items of the response")
	// errInside reports a failure that replaces a list in a response.
	errInside = errors.New("lines: a failure in the place of a list")
)

// Writer writes the lines of one response, which arrives in one part or in several. Beside the bytes that are not yet
// written, it holds one item and the fields of the last line.
type Writer struct {
	form  *Form
	out   io.Writer
	items *transcode.Items
	dst   []byte
	began bool // whether a line was appended
	// rest is the message of the last line.
	rest []byte
	// objects are the objects with lists that the response has, by number, and whether a line shows them already.
	objects map[protowire.Number]bool
}

// NewWriter returns a Writer that writes to out and uses buf. The caller must call Close.
func (f *Form) NewWriter(buf []byte, out io.Writer) *Writer {
	return &Writer{form: f, out: out, items: transcode.NewItems(), dst: buf[:0], objects: map[protowire.Number]bool{}}
}

// Add writes the items of a part of the response. After an error, the output is useless.
func (w *Writer) Add(part []byte) error {
	if w.form.failure != 0 {
		replaced, err := w.addFailure(part)
		if replaced || err != nil {
			return err
		}
	}
	return wire.Each(part, func(number protowire.Number, kind protowire.Type, value []byte) error {
		field := w.form.fields[number]
		switch {
		case field == nil || kind != protowire.BytesType:
			if !w.form.bare {
				w.rest = appendField(w.rest, number, kind, value)
			}
			return nil
		case field.items != nil:
			return w.writeItem(field, value)
		}
		return w.addObject(field, value)
	})
}

// addFailure writes the failure in a part, which replaces the response, and reports whether there is one.
func (w *Writer) addFailure(part []byte) (bool, error) {
	var body []byte
	found := false
	err := wire.Each(part, func(number protowire.Number, kind protowire.Type, value []byte) error {
		if number == w.form.failure && kind == protowire.BytesType {
			message, _ := protowire.ConsumeBytes(value)
			body, found = append(body, message...), true
		}
		return nil
	})
	if err != nil || !found {
		return false, err
	}
	if w.began {
		return true, errLate
	}
	w.form, w.rest = For(failure), nil
	clear(w.objects)
	return true, w.Add(body)
}

// addObject writes the items of an object in the response, and keeps its other fields for the last line.
func (w *Writer) addObject(object *part, value []byte) error {
	message, _ := protowire.ConsumeBytes(value)
	var rest []byte
	shown := w.objects[object.number]
	err := wire.Each(message, func(number protowire.Number, kind protowire.Type, value []byte) error {
		field := object.fields[number]
		if field != nil && kind == protowire.BytesType {
			shown = true
			return w.writeItem(field, value)
		}
		switch {
		case number == object.failure:
			return errInside
		case !object.bare:
			rest = appendField(rest, number, kind, value)
		}
		return nil
	})
	if len(rest) > 0 {
		w.rest = appendMessage(w.rest, object.number, rest)
	}
	w.objects[object.number] = shown || len(rest) > 0
	return err
}

func appendField(dst []byte, number protowire.Number, kind protowire.Type, value []byte) []byte {
	return append(protowire.AppendTag(dst, number, kind), value...)
}

func appendMessage(dst []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), message)
}

// writeItem writes the line of an item.
func (w *Writer) writeItem(list *part, value []byte) error {
	item, _ := protowire.ConsumeBytes(value)
	w.dst = append(w.dst, list.begin...)
	var err error
	if w.dst, err = w.items.Append(w.dst, list.items, item); err != nil {
		return fmt.Errorf("an item of a list: %w", err)
	}
	w.dst = append(append(w.dst, list.end...), '\n')
	w.began = true
	if len(w.dst) < writeFrom {
		return nil
	}
	_, err = w.out.Write(w.dst)
	w.dst = w.dst[:0]
	return err
}

// End returns the bytes that are not yet written, with the last line. The caller must write them.
func (w *Writer) End() ([]byte, error) {
	for number, shown := range w.objects {
		if !shown {
			w.rest = appendMessage(w.rest, number, nil)
		}
	}
	if len(w.rest) == 0 {
		return w.dst, nil
	}
	start := len(w.dst)
	var err error
	if w.dst, err = w.form.plan.AppendJSON(w.dst, w.rest); err != nil {
		return nil, err
	}
	if string(w.dst[start:]) == "{}" {
		return w.dst[:start], nil
	}
	return append(w.dst, '\n'), nil
}

// Close releases all memory except the bytes that End returned.
func (w *Writer) Close() {
	w.items.Close()
	w.rest, w.objects = nil, nil
}
