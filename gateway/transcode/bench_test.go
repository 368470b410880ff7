package transcode_test

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// schedule is the response to a question for 500 employees and 30 days: 15,000
// shifts of three segments.
func schedule(employees, days int) *schedulingv1.Schedule {
	shifts := make([]*schedulingv1.Shift, 0, employees*days)
	for e := range employees {
		for d := range days {
			shifts = append(shifts, shift(int64(e+1), d+1))
		}
	}
	return &schedulingv1.Schedule{Shifts: &schedulingv1.ShiftList{Shifts: shifts}}
}

func shift(employee int64, day int) *schedulingv1.Shift {
	at := func(hour int) string { return fmt.Sprintf("2025-03-%02dT%02d:00:00", day, hour) }
	longID := func(n int64) *int64 { return proto.Int64(1<<52 | employee<<20 | int64(day)<<4 | n) }
	segment := func(kind string, from, to int) *schedulingv1.ShiftSegment {
		return &schedulingv1.ShiftSegment{
			Id:             longID(int64(from)),
			StartDateTime:  at(from),
			EndDateTime:    at(to),
			SegmentTypeRef: &commonv1.Ref{Id: proto.Int64(2), Qualifier: proto.String(kind)},
			Type:           kind,
			OrgJobRef:      &commonv1.Ref{Id: proto.Int64(4711), Qualifier: proto.String("Rotaloom/West/Zurich/Warehouse/Picker")},
		}
	}
	return &schedulingv1.Shift{
		Id:            longID(0),
		Employee:      &commonv1.Ref{Id: proto.Int64(employee), Qualifier: proto.String(fmt.Sprintf("N-%06d", employee))},
		StartDateTime: at(6),
		EndDateTime:   at(14),
		Label:         "Early",
		Generated:     proto.Bool(true),
		Open:          proto.Bool(false),
		Locked:        proto.Bool(false),
		Posted:        proto.Bool(true),
		Version:       proto.Int64(3),
		Relations:     []*schedulingv1.Relation{{Type: "FROM_GROUPITEM_TO_ITEM", TargetRef: &commonv1.Ref{Id: longID(0)}}},
		Segments: []*schedulingv1.ShiftSegment{
			segment("REGULAR_SEGMENT", 6, 10), segment("BREAK_SEGMENT", 10, 11), segment("REGULAR_SEGMENT", 11, 14),
		},
	}
}

func BenchmarkScheduleToJSON(b *testing.B) {
	message := schedule(500, 30)
	wire, err := proto.Marshal(message)
	require.NoError(b, err)
	plan := transcode.For(message.ProtoReflect().Descriptor())
	json, err := plan.AppendJSON(nil, wire)
	require.NoError(b, err)

	b.Run("stream", func(b *testing.B) { // as in the edge
		b.SetBytes(int64(len(json)))
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			if buf, err = plan.StreamJSON(buf[:0], wire, io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		b.SetBytes(int64(len(json)))
		b.ReportAllocs()
		for b.Loop() {
			if json, err = plan.AppendJSON(json[:0], wire); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("proto.Unmarshal and protojson", func(b *testing.B) {
		b.SetBytes(int64(len(json)))
		b.ReportAllocs()
		for b.Loop() {
			var m schedulingv1.Schedule
			if err := proto.Unmarshal(wire, &m); err != nil {
				b.Fatal(err)
			}
			if _, err := protojson.Marshal(&m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAgainstProtojson writes the same schedule in turns with protojson,
// and reports the medians of both in MB/s of the JSON that each writes.
func BenchmarkAgainstProtojson(b *testing.B) {
	message := schedule(500, 30)
	wire, err := proto.Marshal(message)
	require.NoError(b, err)
	plan := transcode.For(message.ProtoReflect().Descriptor())
	var buf, standard []byte
	var ours, theirs []float64
	var written counter
	for b.Loop() {
		written = 0
		runtime.GC()
		began := time.Now()
		if buf, err = plan.StreamJSON(buf[:0], wire, &written); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, float64(int(written)+len(buf))/1e6/time.Since(began).Seconds())
		runtime.GC()
		began = time.Now()
		if standard, err = protojson.Marshal(message); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, float64(len(standard))/1e6/time.Since(began).Seconds())
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(ours[len(ours)/2], "MB/s")
	b.ReportMetric(theirs[len(theirs)/2], "protojson-MB/s")
}

// counter counts the written bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func BenchmarkShiftsToWire(b *testing.B) {
	message := schedule(10, 30).Shifts
	wire, err := proto.Marshal(message)
	require.NoError(b, err)
	plan := transcode.For(message.ProtoReflect().Descriptor())
	json, err := plan.AppendJSON(nil, wire)
	require.NoError(b, err)
	standard, err := protojson.Marshal(message)
	require.NoError(b, err)

	b.Run("transcode", func(b *testing.B) {
		b.SetBytes(int64(len(json)))
		b.ReportAllocs()
		for b.Loop() {
			if wire, err = plan.AppendWire(wire[:0], json); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protojson and proto.Marshal", func(b *testing.B) {
		b.SetBytes(int64(len(standard)))
		b.ReportAllocs()
		for b.Loop() {
			var m schedulingv1.ShiftList
			if err := protojson.Unmarshal(standard, &m); err != nil {
				b.Fatal(err)
			}
			if _, err := proto.Marshal(&m); err != nil {
				b.Fatal(err)
			}
		}
	})
}
