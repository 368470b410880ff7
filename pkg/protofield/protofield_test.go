package protofield_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/protofield"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 5, protofield.MustNumber(&structpb.Value{}, "struct_value"))
	number, ok := protofield.Number(&structpb.Value{}, "structValue")
	assert.False(t, ok, "names are those of the contract, not of JSON")
	assert.Zero(t, number)
	assert.PanicsWithValue(t, `protofield: google.protobuf.Value has no field "tree"`, func() { protofield.MustNumber(&structpb.Value{}, "tree") })
}

func TestMustShort(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 1, protofield.MustShort(&structpb.Struct{}, "fields"))
	assert.Panics(t, func() { protofield.MustShort(&structpb.Struct{}, "values") })
	assert.PanicsWithValue(t, "protofield: the tag of google.protobuf.FileOptions.cc_generic_services has more than one byte",
		func() { protofield.MustShort(&descriptorpb.FileOptions{}, "cc_generic_services") }, "16 and above take two bytes")
}

func TestMustShare(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 3, protofield.MustShare(3, 3, 3))
	assert.PanicsWithValue(t, "protofield: fields that must share a number have [3 3 4]", func() { protofield.MustShare(3, 3, 4) })
}
