package transcode

import (
	"net/http"
	"reflect"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// A few bytes of JSON can stand for a large message: {} for a message with a hundred fields. Therefore the
// decoder counts the memory that the decoded messages of a body will need, and refuses a body that needs too
// much before anything allocates that memory.

const (
	// WeightPerByte and WeightFloor bound the memory of the decoded messages of a body, in bytes and without
	// the texts in them: the floor, plus this factor for each byte of the body. Real bodies need less than 10
	// for each byte, short ones 12, and lists of references, {"id":1}, slightly more.
	WeightPerByte = 14
	// WeightFloor is the constant part, in bytes. A list of empty objects up to its limit stays below it.
	WeightFloor = 1 << 20
	// weightOfItem is the memory of a list item beside its own fields. It is the whole weight of a text or a
	// number.
	weightOfItem = 16
	// weightOfField is the assumed memory of a field of a type without generated code.
	weightOfField = 16
)

// messageWeight returns the memory of an empty message.
func messageWeight(desc protoreflect.MessageDescriptor) int {
	if t, err := protoregistry.GlobalTypes.FindMessageByName(desc.FullName()); err == nil {
		if of := reflect.TypeOf(t.Zero().Interface()); of.Kind() == reflect.Pointer {
			return int(of.Elem().Size()) + weightOfItem
		}
	}
	return weightOfField*(desc.Fields().Len()+4) + weightOfItem
}

// weigh counts memory, and fails if the body exceeds its bound.
func (d *decoder) weigh(bytes int) *problem {
	d.weight += bytes
	if d.weight > WeightFloor+WeightPerByte*len(d.in) {
		p := problemf(fault.CodeTooLarge, "contains too many objects without properties; remove these")
		p.status = http.StatusRequestEntityTooLarge
		return p
	}
	return nil
}

// itemCaps returns the largest number of items of each list that the decoder passes on. Compiling the policy,
// and a test, report errors in a contract.
func itemCaps(desc protoreflect.MessageDescriptor) map[protoreflect.FieldNumber]int64 {
	caps, err := policy.Caps(desc)
	if err != nil {
		return nil
	}
	return caps
}

// boundedList reads a list by calling read for each item. It reads the items beyond the limit of the contract
// too, because errors in them take precedence over the limit, but it does not write them. It returns their
// number.
func (d *decoder) boundedList(f *field, read func(index int) *problem) (omitted int64, bad *problem) {
	most := f.most
	if d.most > 0 && (most == 0 || d.most < most) {
		most = d.most
	}
	passed := int64(0)
	bad = d.list(func(index int) *problem {
		mark, weight := len(d.out), d.weight
		if bad := read(index); bad != nil {
			return bad
		}
		switch {
		case len(d.out) == mark: // the item was null
		case most == 0 || passed < most:
			passed++
		default:
			omitted++
			d.out, d.weight = d.out[:mark], weight
		}
		return nil
	})
	return omitted, bad
}

// writeOmitted writes the number of items that were omitted from the preceding list.
func (d *decoder) writeOmitted(f *field, omitted int64) {
	if omitted > 0 {
		d.out = policy.AppendMore(d.out, f.number, omitted)
		d.incomplete = true
	}
}
