package transcode_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/gateway/transcode"
)

// rounds is how many random messages of a type are tried: more of the one that
// has all kinds of fields.
func rounds(desc protoreflect.MessageDescriptor) uint64 {
	if desc.FullName() == "test.Kinds" {
		return 20
	}
	return 8
}

func TestJSONEqualsProtojsonForEveryMessageType(t *testing.T) {
	t.Parallel()
	for _, desc := range messageTypes() {
		t.Run(string(desc.FullName()), func(t *testing.T) {
			t.Parallel()
			for seed := range rounds(desc) {
				random := maker{Rand: rand.New(rand.NewPCG(seed, 1))}
				m := random.message(desc, 0)
				wire, err := proto.Marshal(m)
				require.NoError(t, err)
				requireSameJSON(t, m, wire)
				requireSameJSON(t, m, shuffle(random.Rand, wire))
			}
		})
	}
}

func requireSameJSON(t testing.TB, m proto.Message, wire []byte) {
	t.Helper()
	text, err := transcode.For(m.ProtoReflect().Descriptor()).AppendJSON([]byte("before"), wire)
	require.NoError(t, err)
	require.Equal(t, expectedJSON(t, m), decode(t, text[len("before"):]), "%s", text)
}

// shuffle reorders the fields of a message, but keeps the order of fields with the same number. It
// repeats some fields, which encoders may do.
func shuffle(r *rand.Rand, wire []byte) []byte {
	fields := map[protowire.Number][][]byte{}
	var order []protowire.Number
	for len(wire) > 0 {
		number, _, n := protowire.ConsumeField(wire)
		fields[number] = append(fields[number], wire[:n])
		order = append(order, number)
		wire = wire[n:]
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var out []byte
	for _, number := range order {
		out = append(out, fields[number][0]...)
		fields[number] = fields[number][1:]
	}
	return out
}

func TestWireEqualsTheMessageForEveryMessageType(t *testing.T) {
	t.Parallel()
	for _, desc := range messageTypes() {
		t.Run(string(desc.FullName()), func(t *testing.T) {
			t.Parallel()
			plan := transcode.For(desc)
			for seed := range rounds(desc) {
				m := maker{Rand: rand.New(rand.NewPCG(seed, 2)), request: true}.message(desc, 0)
				wire, err := proto.Marshal(m)
				require.NoError(t, err)
				text, err := plan.AppendJSON(nil, wire)
				require.NoError(t, err)
				requireSameMessage(t, m, text)

				if !hasBareArray(desc, nil) {
					standard, err := protojson.Marshal(m)
					require.NoError(t, err)
					requireSameMessage(t, m, standard)
				}
			}
		})
	}
}

func requireSameMessage(t testing.TB, m proto.Message, text []byte) {
	t.Helper()
	desc := m.ProtoReflect().Descriptor()
	wire, err := transcode.For(desc).AppendWire([]byte("before"), text)
	require.NoError(t, err, "%s", text)
	got := dynamicpb.NewMessage(desc)
	require.NoError(t, proto.Unmarshal(wire[len("before"):], got))
	require.True(t, proto.Equal(m, got), "%s\nwant %v\ngot  %v", text, m, got)
}

// hasBareArray reports whether a message type, or one inside it, has a JSON of
// its own kind.
func hasBareArray(desc protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if seen == nil {
		seen = map[protoreflect.FullName]bool{}
	}
	if seen[desc.FullName()] {
		return false
	}
	seen[desc.FullName()] = true
	if messageOption(desc).GetBareArray() != "" || messageOption(desc).GetFailure() != "" {
		return true
	}
	for i := range desc.Fields().Len() {
		if m := desc.Fields().Get(i).Message(); m != nil && hasBareArray(m, seen) {
			return true
		}
	}
	return false
}
