package transcode_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// divide cuts a message into parts at random: between its fields, and within
// those that hold a list.
func divide(random *rand.Rand, wire []byte) [][]byte {
	var parts [][]byte
	var part []byte
	cut := func() {
		if random.IntN(3) == 0 {
			parts = append(parts, part)
			part = nil
		}
	}
	for len(wire) > 0 {
		number, _, n := protowire.ConsumeField(wire)
		_, _, tag := protowire.ConsumeTag(wire)
		list, _ := protowire.ConsumeBytes(wire[tag:n])
		wire = wire[n:]
		for {
			size := 0
			for range random.IntN(40) {
				if size < len(list) {
					_, _, item := protowire.ConsumeField(list[size:])
					size += item
				}
			}
			part = protowire.AppendTag(part, number, protowire.BytesType)
			part = protowire.AppendBytes(part, list[:size])
			cut()
			if list = list[size:]; len(list) == 0 {
				break
			}
		}
	}
	return append(parts, part)
}

// join returns the JSON of a message in parts. It overwrites the memory of each part after adding it.
func join(t *testing.T, m proto.Message, parts [][]byte) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	j := transcode.For(m.ProtoReflect().Descriptor()).Join(nil, &out)
	defer j.Close()
	memory := make([]byte, 0, 1<<20)
	for _, part := range parts {
		memory = append(memory[:0], part...)
		if err := j.Add(memory); err != nil {
			return nil, err
		}
		for i := range memory {
			memory[i] = 0xff
		}
	}
	last, err := j.End()
	return append(out.Bytes(), last...), err
}

func TestJoinedPartsEqualProtojson(t *testing.T) {
	t.Parallel()
	for seed := range seeds(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		m := schedule(30, 14)
		for range random.IntN(50) {
			mutateShift(random, m.Shifts.Shifts[random.IntN(len(m.Shifts.Shifts))])
		}
		m.OpenShifts, m.DayLocks = &schedulingv1.ShiftList{}, &schedulingv1.DayLockList{}
		wire, err := proto.Marshal(m)
		require.NoError(t, err)
		parts := divide(random, wire)
		assert.Greater(t, len(parts), 1)
		text, err := join(t, m, parts)
		require.NoError(t, err)
		require.Equal(t, expectedJSON(t, m), decode(t, text))
	}
}

// A message in the message goes on in the next part as well, with the lists that
// are in it.
func TestJoinedMessagesGoOn(t *testing.T) {
	t.Parallel()
	node := func(entity string, children ...*platformv1.DataNode) *platformv1.DataNode {
		return &platformv1.DataNode{
			Key: &structpb.Struct{Fields: map[string]*structpb.Value{"ID": structpb.NewStringValue(entity)}}, CustomProperties: &structpb.Struct{},
			Attributes: &platformv1.DataAttributes{}, Children: &platformv1.DataNodes{Nodes: children}, RootEntity: entity,
			SummaryListDisplay: &platformv1.DataSummaries{Summaries: []*platformv1.DataSummary{{Key: entity}}},
		}
	}
	m := &platformv1.MultiReadDataResponse{Metadata: &platformv1.DataMetadata{CacheKey: "tag", Errors: []*platformv1.DataError{{Code: "a"}, {Code: "b"}}}, Data: node("ROOT")}
	var parts [][]byte
	add := func(part *platformv1.MultiReadDataResponse) {
		wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(part)
		require.NoError(t, err)
		parts = append(parts, wire)
	}
	errors := m.Metadata.Errors
	add(&platformv1.MultiReadDataResponse{Metadata: &platformv1.DataMetadata{CacheKey: "tag", Errors: errors[:1]}})
	add(&platformv1.MultiReadDataResponse{Metadata: &platformv1.DataMetadata{Errors: errors[1:]}})
	add(&platformv1.MultiReadDataResponse{Data: &platformv1.DataNode{Key: m.Data.Key, Attributes: m.Data.Attributes}})
	for i := range 500 {
		child := node(strings.Repeat("x", i))
		m.Data.Children.Nodes = append(m.Data.Children.Nodes, child)
		add(&platformv1.MultiReadDataResponse{Data: &platformv1.DataNode{Children: &platformv1.DataNodes{Nodes: []*platformv1.DataNode{child}}}})
	}
	add(&platformv1.MultiReadDataResponse{Data: &platformv1.DataNode{
		SummaryListDisplay: m.Data.SummaryListDisplay, RootEntity: "ROOT", CustomProperties: m.Data.CustomProperties,
	}})
	text, err := join(t, m, parts)
	require.NoError(t, err)
	require.Equal(t, expectedJSON(t, m), decode(t, text))
	_, err = join(t, m, append(parts, parts[2]))
	assert.Error(t, err, "a field of a message in the message that comes back")
	text, err = join(t, m, parts[:1])
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata": {"cacheKey": "tag", "errors": [{"code": "a"}]}}`, string(text))
}

func TestJoiningNothing(t *testing.T) {
	t.Parallel()
	text, err := join(t, &schedulingv1.Schedule{}, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{}`, string(text))
}

func TestPartsThatCannotBeJoined(t *testing.T) {
	t.Parallel()
	marshal := func(m proto.Message) []byte {
		wire, err := proto.Marshal(m)
		require.NoError(t, err)
		return wire
	}
	shifts := marshal(&schedulingv1.Schedule{Shifts: &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{{Label: "a"}}}})
	open := marshal(&schedulingv1.Schedule{OpenShifts: &schedulingv1.ShiftList{}})
	failed := marshal(&schedulingv1.Schedule{Shifts: &schedulingv1.ShiftList{Failure: &commonv1.ErrorBody{ErrorCode: "x"}}})
	for name, parts := range map[string][][]byte{
		"a field that comes back":      {shifts, open, shifts},
		"a part that is cut off":       {shifts[:len(shifts)-1]},
		"a failure in place of a list": {shifts, failed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := join(t, &schedulingv1.Schedule{}, parts)
			assert.Error(t, err, name)
		})
	}
	_, err := join(t, &schedulingv1.ShiftList{}, [][]byte{nil})
	assert.Error(t, err, "a message that is a list itself")
}

// A tree has two objects in each of hundreds of thousands of nodes: what each of
// them leaves to the collector adds up to gigabytes.
func TestObjectsLeaveNoGarbage(t *testing.T) {
	object, err := structpb.NewStruct(map[string]any{"EMP": map[string]any{"id": "7", "qualifier": "D-0007"}})
	require.NoError(t, err)
	wire, err := proto.Marshal(object)
	require.NoError(t, err)
	plan, dst := transcode.For(object.ProtoReflect().Descriptor()), make([]byte, 0, 1<<10)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		dst, err = plan.AppendJSON(dst[:0], wire)
	}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"EMP":{"id":"7","qualifier":"D-0007"}}`, string(dst))
}
