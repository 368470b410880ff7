package transcode_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// fuzzTypes returns the message types that fuzzing works on.
func fuzzTypes() []protoreflect.MessageDescriptor {
	return []protoreflect.MessageDescriptor{
		kindsFile().Messages().ByName("Kinds"),
		kindsFile().Messages().ByName("Items"),
		(&schedulingv1.ShiftList{}).ProtoReflect().Descriptor(),
		(&schedulingv1.ApplyCreateGroupSchedulePatterns{}).ProtoReflect().Descriptor(),
	}
}

func FuzzAppendJSON(f *testing.F) {
	for i, desc := range fuzzTypes() {
		for seed := range uint64(4) {
			wire, err := proto.Marshal(maker{Rand: rand.New(rand.NewPCG(seed, 3))}.message(desc, 1))
			require.NoError(f, err)
			f.Add(byte(i), wire)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, wire []byte) {
		desc := fuzzTypes()[int(which)%len(fuzzTypes())]
		text, err := transcode.For(desc).AppendJSON(nil, wire)
		if err == nil {
			require.True(t, json.Valid(text), "%q", text)
		}
		m := dynamicpb.NewMessage(desc)
		if !understood(wire, m) {
			return
		}
		if _, standard := protojson.Marshal(m); standard == nil && err == nil {
			require.Equal(t, expectedJSON(t, m), decode(t, text))
		}
	})
}

// understood reports whether proto.Unmarshal accepts the bytes. For a dynamic
// message it panics on some malformed map entries.
func understood(wire []byte, m proto.Message) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return proto.Unmarshal(wire, m) == nil
}

func FuzzAppendWire(f *testing.F) {
	for i, desc := range fuzzTypes() {
		for seed := range uint64(4) {
			m := maker{Rand: rand.New(rand.NewPCG(seed, 4)), request: true}.message(desc, 1)
			wire, err := proto.Marshal(m)
			require.NoError(f, err)
			text, err := transcode.For(desc).AppendJSON(nil, wire)
			require.NoError(f, err)
			f.Add(byte(i), text)
		}
	}
	for _, text := range []string{`{"aInt64":"1e3"}`, `{"aInt32":3.7,"color":"red"}`, `[1,"2",3.9]`, `{"struct":{"a":[null,{"b":1}]}}`, `{"aString":"\ud83d\ude00\n"}`} {
		f.Add(byte(0), []byte(text))
		f.Add(byte(1), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		desc := fuzzTypes()[int(which)%len(fuzzTypes())]
		wire, err := transcode.For(desc).AppendWire(nil, text)
		if err != nil {
			return
		}
		require.True(t, json.Valid(text), "%q", text)
		got := dynamicpb.NewMessage(desc)
		require.NoError(t, proto.Unmarshal(wire, got), "%q", text)
		standard := dynamicpb.NewMessage(desc)
		if !hasBareArray(desc, nil) && protojson.Unmarshal(text, standard) == nil {
			require.True(t, proto.Equal(standard, got), "%q", text)
		}
		_, err = transcode.For(desc).AppendJSON(nil, wire)
		require.NoError(t, err, "%q", text)
	})
}
