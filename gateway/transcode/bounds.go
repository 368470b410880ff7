package transcode

import (
	"net/http"
	"reflect"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// A few bytes of JSON can stand for a large message: {} for one with a hundred fields.
// So it is counted while a body is read what its messages will take in the memory of
// whoever decodes them, and what is too much is refused before it is there.

const (
	// WeightPerByte bounds, with WeightFloor, what the messages of a body may take once
	// they are decoded, in bytes beside the texts in them: the floor, and so much for
	// each byte of the body. What real bodies hold takes less than 10 for a byte,
	// short ones 12, and lists of references, {"id":1}, a little more.
	WeightPerByte = 14
	// WeightFloor is the floor, in bytes. As many empty objects as a limit lets pass
	// stay below it.
	WeightFloor = 1 << 20
	// weightOfItem is what an item of a list takes beside its own memory, and all of
	// one that is a text or a number.
	weightOfItem = 16
	// weightOfField is what a field of a type takes of which no code was generated.
	weightOfField = 16
)

// weightOf returns what a message takes in memory that has no field set.
func weightOf(desc protoreflect.MessageDescriptor) int {
	if t, err := protoregistry.GlobalTypes.FindMessageByName(desc.FullName()); err == nil {
		if of := reflect.TypeOf(t.Zero().Interface()); of.Kind() == reflect.Pointer {
			return int(of.Elem().Size()) + weightOfItem
		}
	}
	return weightOfField*(desc.Fields().Len()+4) + weightOfItem
}

// weigh counts what is about to be written.
func (d *decoder) weigh(bytes int) *problem {
	d.weight += bytes
	if d.weight > WeightFloor+WeightPerByte*len(d.in) {
		p := problemf(fault.CodeTooLarge, "holds more objects than its length allows: most of them say nothing")
		p.status = http.StatusRequestEntityTooLarge
		return p
	}
	return nil
}

// capsOf returns how many items of lists may pass at all. What is wrong with a
// contract is found when its policy is compiled, and by a test.
func capsOf(desc protoreflect.MessageDescriptor) map[protoreflect.FieldNumber]int64 {
	caps, err := policy.Caps(desc)
	if err != nil {
		return nil
	}
	return caps
}

// counted reads a list; each reads the item at its position. Items beyond what the
// limits of the contract let pass are read, since what is wrong with them comes before
// a limit, but not written. It returns how many they are.
func (d *decoder) counted(f *field, each func(index int) *problem) (left int64, bad *problem) {
	most := f.most
	if d.most > 0 && (most == 0 || d.most < most) {
		most = d.most
	}
	kept := int64(0)
	bad = d.list(func(index int) *problem {
		mark, weight := len(d.out), d.weight
		if bad := each(index); bad != nil {
			return bad
		}
		switch {
		case len(d.out) == mark: // It was null.
		case most == 0 || kept < most:
			kept++
		default:
			left++
			d.out, d.weight = d.out[:mark], weight
		}
		return nil
	})
	return left, bad
}

// writeOmitted writes how many items were left out of the list that was just written.
func (d *decoder) writeOmitted(f *field, left int64) {
	if left > 0 {
		d.out = policy.AppendMore(d.out, f.number, left)
		d.incomplete = true
	}
}
