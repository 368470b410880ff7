package transcode

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestLongIDs(t *testing.T) {
	t.Parallel()
	const past = 1 << 53
	numbers := []uint64{firstLongID, firstLongID + 1, past - 1, 5e15, 5e15 + 1e8, 5e15 + 99999999}
	for range 1000 {
		numbers = append(numbers, firstLongID+rand.Uint64N(past-firstLongID))
	}
	for _, number := range numbers {
		wire := protowire.AppendVarint(nil, number)
		require.True(t, isLongID(wire), number)
		assert.Equal(t, number, readLongID(wire))
		text := longID{}.text(wire)
		assert.Equal(t, strconv.FormatUint(number, 10), string(text[:]))
	}
	for _, number := range []uint64{0, 1, firstLongID - 1, past, 1<<63 + firstLongID, 1<<64 - 1} {
		wire := protowire.AppendVarint(nil, number)
		assert.False(t, isLongID(wire), number)
		assert.False(t, isLongID(append(wire, wire...)), number)
	}
	assert.False(t, isLongID(protowire.AppendVarint(nil, firstLongID)[:longIDBytes-1]))
}

// A memo serves several messages in turn, even if the fragments of one fill it.
func TestAMemoServesManyMessages(t *testing.T) {
	t.Parallel()
	m := memos.New().(*memo)
	plan := For((&schedulingv1.ShiftList{}).ProtoReflect().Descriptor())
	text := func(message int) string { return fmt.Sprintf("%01000d", message) }
	emptied := 0
	for message := range 4 * memoChunks * memoChunk / len(text(0)) / 20 {
		list := &schedulingv1.ShiftList{}
		for shift := range 20 {
			// Half of them are as they were in the message before.
			label := text(20*message + shift)
			if shift%2 == 0 {
				label = text(shift)
			}
			list.Shifts = append(list.Shifts, &schedulingv1.Shift{Id: proto.Int64(firstLongID + int64(message)), Label: label})
		}
		wire, err := proto.Marshal(list)
		require.NoError(t, err)
		want, err := plan.appendJSON(nil, wire, position{})
		require.NoError(t, err)
		got, err := plan.appendJSON(nil, wire, position{memo: m})
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		full := m.fill == memoChunks
		if m.renew(); full {
			assert.Zero(t, m.fill)
			emptied++
		}
	}
	assert.Positive(t, emptied)
	assert.Len(t, m.chunks, memoChunks)
}
