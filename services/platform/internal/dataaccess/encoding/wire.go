package encoding

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/protofield"
)

// Fields of google.protobuf.Struct and Value. Map entries have the key and value numbers of the protobuf
// format.
var (
	structFields = protofield.MustShort(&structpb.Struct{}, "fields")
	entry        = (&structpb.Struct{}).ProtoReflect().Descriptor().Fields().ByNumber(structFields)
	entryKey     = entry.MapKey().Number()
	entryValue   = entry.MapValue().Number()
	textValue    = protofield.MustShort(&structpb.Value{}, "string_value")
	treeValue    = protofield.MustShort(&structpb.Value{}, "struct_value")
)

// appendLength appends the tag and the length of a field. Field numbers are below 16, so a tag is one byte.
func appendLength(dst []byte, field protowire.Number, size int) []byte {
	dst = append(dst, byte(field)<<3|byte(protowire.BytesType))
	if size < 0x80 {
		return append(dst, byte(size))
	}
	return protowire.AppendVarint(dst, uint64(size))
}

func appendBytes[T string | []byte](dst []byte, field protowire.Number, value T) []byte {
	return append(appendLength(dst, field, len(value)), value...)
}

// fieldSize returns the size of a length-delimited field with a value of size bytes.
func fieldSize(size int) int { return 1 + protowire.SizeBytes(size) }

// appendTextEntry appends a Struct entry with a text.
func appendTextEntry[T string | []byte](dst []byte, name string, text T) []byte {
	dst = appendEntry(dst, name, fieldSize(len(text)))
	return appendBytes(dst, textValue, text)
}

// appendTree appends a Struct entry with another Struct.
func appendTree(dst []byte, name string, fields []byte) []byte {
	dst = appendEntry(dst, name, fieldSize(len(fields)))
	return appendBytes(dst, treeValue, fields)
}

// appendEntry appends the beginning of an entry with a value of size bytes.
func appendEntry(dst []byte, name string, size int) []byte {
	dst = appendLength(dst, structFields, fieldSize(len(name))+fieldSize(size))
	return appendLength(appendBytes(dst, entryKey, name), entryValue, size)
}

const (
	// maxNumber is larger than any value except a text, in both forms.
	maxNumber = 330
	// maxKeys is larger than the keys of a node, without the qualifier of its row.
	maxKeys = 512
)

// maxNode returns an upper bound for the size of the nodes of rows.
func (w *Writer) maxNode() int64 {
	size := int64(maxKeys)
	var qualifier int64
	for _, row := range w.Rows {
		qualifier = max(qualifier, int64(len(row.GetQualifier())))
	}
	for _, c := range w.Table.Columns[:w.Shown] {
		longest := maxNumber
		if c.Kind == dataelement.String {
			longest = 0
			for _, text := range c.Texts {
				longest = max(longest, len(text))
			}
		}
		size += int64(fieldSize(len(c.Head) + 2*fieldSize(longest)))
	}
	return size + qualifier
}
