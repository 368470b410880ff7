package encoding

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/protofield"
)

// Fields of google.protobuf.Struct and Value. An entry of a map has its key and its value
// under the numbers that the format of protobuf gives them.
var (
	structFields = protofield.MustShort(&structpb.Struct{}, "fields")
	entry        = (&structpb.Struct{}).ProtoReflect().Descriptor().Fields().ByNumber(structFields)
	entryKey     = entry.MapKey().Number()
	entryValue   = entry.MapValue().Number()
	textValue    = protofield.MustShort(&structpb.Value{}, "string_value")
	treeValue    = protofield.MustShort(&structpb.Value{}, "struct_value")
)

// appendLength appends how a field of some bytes begins. Numbers of fields are
// below 16, so that a tag is one byte.
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

// sizeOf is how many bytes a field of some bytes takes.
func sizeOf(size int) int { return 1 + protowire.SizeBytes(size) }

// appendTextEntry appends an entry of a Struct that is a text.
func appendTextEntry[T string | []byte](dst []byte, name string, text T) []byte {
	dst = appendEntry(dst, name, sizeOf(len(text)))
	return appendBytes(dst, textValue, text)
}

// appendTree appends an entry of a Struct that is another Struct.
func appendTree(dst []byte, name string, fields []byte) []byte {
	dst = appendEntry(dst, name, sizeOf(len(fields)))
	return appendBytes(dst, treeValue, fields)
}

// appendEntry appends how an entry with a value of some bytes begins.
func appendEntry(dst []byte, name string, size int) []byte {
	dst = appendLength(dst, structFields, sizeOf(len(name))+sizeOf(size))
	return appendLength(appendBytes(dst, entryKey, name), entryValue, size)
}

const (
	// maxNumber is more than any value but a text takes, in either form.
	maxNumber = 330
	// maxKeys is more than what distinguishes a node from others takes, but for the
	// qualifier of its row.
	maxKeys = 512
)

// maxNode is how many bytes the nodes of rows do not pass.
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
		size += int64(sizeOf(len(c.Head) + 2*sizeOf(longest)))
	}
	return size + qualifier
}
