package transcode_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// stream streams a message, and returns the number of written parts and the whole text.
func stream(t *testing.T, m proto.Message, wire []byte) (parts int, text []byte) {
	t.Helper()
	var out recorder
	last, err := transcode.For(m.ProtoReflect().Descriptor()).StreamJSON(nil, wire, &out)
	require.NoError(t, err)
	return out.writes, append(out.Bytes(), last...)
}

type recorder struct {
	bytes.Buffer
	writes int
}

func (r *recorder) Write(p []byte) (int, error) {
	r.writes++
	return r.Buffer.Write(p)
}

func TestStreamedJSONEqualsProtojson(t *testing.T) {
	t.Parallel()
	m := schedule(60, 30)
	m.DayLocks = &schedulingv1.DayLockList{}
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	parts, text := stream(t, m, wire)
	assert.Greater(t, parts, 5)
	require.Equal(t, expectedJSON(t, m), decode(t, text))

	// Fields in another order, and a list that is interrupted by another field,
	// are written only when everything is known.
	locks := []byte{8<<3 | 2, 0}
	require.True(t, bytes.HasSuffix(wire, locks))
	parts, text = stream(t, m, append(locks, wire[:len(wire)-2]...))
	assert.Zero(t, parts)
	require.Equal(t, expectedJSON(t, m), decode(t, text))
	parts, text = stream(t, m.GetShifts(), wire[4:len(wire)-2])
	assert.Greater(t, parts, 5)
	require.Equal(t, expectedJSON(t, m.GetShifts()), decode(t, text))

	parts, _ = stream(t, schedule(2, 2), nil)
	assert.Zero(t, parts)
}

// The fragments of a message that are alike must not be taken for one another when
// they differ in a single field.
func TestRepeatedFragmentsAreDistinguished(t *testing.T) {
	t.Parallel()
	for seed := range seeds(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		m := schedule(30, 14).GetShifts()
		for range random.IntN(200) {
			mutateShift(random, m.Shifts[random.IntN(len(m.Shifts))])
		}
		wire, err := proto.Marshal(m)
		require.NoError(t, err)
		_, text := stream(t, m, wire)
		require.Equal(t, expectedJSON(t, m), decode(t, text))
		requireSameJSON(t, m, wire)
	}
}

// seeds returns count, or fewer for a short run.
func seeds(count uint64) uint64 {
	if testing.Short() {
		return min(count, 5)
	}
	return count
}

// mutateShift changes one thing of a shift.
func mutateShift(random *rand.Rand, s *schedulingv1.Shift) {
	switch random.IntN(13) {
	case 0:
		s.Id = nil
	case 1:
		s.Employee = nil
	case 2:
		s.Id, s.Employee = nil, nil
	case 3:
		s.Label = "Late"
	case 4:
		s.Segments = s.Segments[:random.IntN(len(s.Segments)+1)]
	case 5:
		s.Segments = append(s.Segments, &schedulingv1.ShiftSegment{Type: `quoted "text"`})
	case 6:
		s.Version = proto.Int64(int64(random.IntN(3)))
	case 7:
		id, employee := s.Id, s.Employee
		proto.Reset(s)
		s.Id, s.Employee = id, employee
	case 8:
		proto.Reset(s)
		s.Label = "nobody's"
	case 9: // a text that looks like an id
		s.Label = strconv.FormatInt(1<<52+int64(random.IntN(2)), 10)
	case 10:
		s.Segments = append(s.Segments, &schedulingv1.ShiftSegment{Id: proto.Int64(1<<52 - 1 + int64(random.IntN(3)))})
	case 11:
		s.Relations = append(s.Relations, &schedulingv1.Relation{TargetRef: &commonv1.Ref{Id: proto.Int64(1<<53 - 1 + int64(random.IntN(2)))}})
	case 12:
		s.PositionId = proto.Int64(1<<52 + random.Int64N(1<<52))
	}
}

// New fragments only, more than the memo looks at or has room for.
func TestMessagesThatDoNotRepeatThemselves(t *testing.T) {
	t.Parallel()
	m := schedule(200, 28).GetShifts()
	for i, s := range m.Shifts {
		s.Version = proto.Int64(int64(i))
		for _, segment := range s.Segments {
			segment.Type = string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		}
	}
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	_, text := stream(t, m, wire)
	require.Equal(t, expectedJSON(t, m), decode(t, text))
}

// Bytes that end too early are an error wherever they end, and no panic.
func TestMessagesThatAreCutOff(t *testing.T) {
	t.Parallel()
	m := schedule(10, 10)
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	plan := transcode.For(m.ProtoReflect().Descriptor())
	for end := len(wire) - 1000; end < len(wire); end++ {
		_, err := plan.AppendJSON(nil, wire[:end])
		require.Error(t, err, "%d of %d bytes", end, len(wire))
	}
	// Also when the list itself ends early, and its last item is cut off.
	list, err := proto.Marshal(m.GetShifts())
	require.NoError(t, err)
	for end := len(list) - 300; end < len(list); end++ {
		_, err := transcode.For(m.GetShifts().ProtoReflect().Descriptor()).AppendJSON(nil, list[:end])
		require.Error(t, err, "%d of %d bytes", end, len(list))
	}
}

// The buffered data stays below one part, even for large items.
func TestLargeItemsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	const size = 300 << 10
	m := &schedulingv1.ShiftList{}
	for i := range 20 {
		m.Shifts = append(m.Shifts, &schedulingv1.Shift{Label: strings.Repeat(string(rune('a'+i)), size)})
	}
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	var out recorder
	last, err := transcode.For(m.ProtoReflect().Descriptor()).StreamJSON(nil, wire, &out)
	require.NoError(t, err)
	assert.Less(t, len(last), size/2)
	require.Equal(t, expectedJSON(t, m), decode(t, append(out.Bytes(), last...)))
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestStreamEndsWithItsWriter(t *testing.T) {
	t.Parallel()
	m := schedule(60, 30)
	wire, err := proto.Marshal(m)
	require.NoError(t, err)
	_, err = transcode.For(m.ProtoReflect().Descriptor()).StreamJSON(nil, wire, broken{})
	require.ErrorIs(t, err, errBroken)
}
