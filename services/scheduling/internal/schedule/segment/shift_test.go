package segment

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The rest of a cut shift is, minute by minute, its work without the cut.
func TestCutLeavesTheDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const minute = 60
		at := rapid.Int64Range(0, 300).Draw(t, "start")
		shift := &schedulingv1.Shift{StartDateTime: Text(at * minute)}
		worked := map[int64]bool{}
		for i, length := range rapid.SliceOfN(rapid.Int64Range(1, 90), 1, 5).Draw(t, "lengths") {
			kind := Regular
			if rapid.Bool().Draw(t, "break") {
				kind = Break
			}
			shift.Segments = append(shift.Segments, &schedulingv1.ShiftSegment{
				Id: proto.Int64(int64(i + 1)), SegmentTypeRef: &commonv1.Ref{Qualifier: &kind},
				StartDateTime: Text(at * minute), EndDateTime: Text((at + length) * minute),
			})
			for m := at; kind == Regular && m < at+length; m++ {
				worked[m] = true
			}
			at += length
		}
		shift.EndDateTime = Text(at * minute)
		var gone []Interval
		for range rapid.IntRange(0, 4).Draw(t, "leaves") {
			from := rapid.Int64Range(0, 700).Draw(t, "from")
			length := rapid.Int64Range(0, 200).Draw(t, "length")
			gone = append(gone, Interval{from * minute, (from + length) * minute})
			for m := from; m < from+length; m++ {
				delete(worked, m)
			}
		}
		left, err := Cut(shift, Merge(gone))
		if err != nil {
			t.Fatal(err)
		}
		if left != (len(worked) > 0) {
			t.Fatalf("left is %v, with %d minutes of work", left, len(worked))
		}
		if !left {
			return
		}
		pieces, err := Of(shift)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := newSegment(shift.GetStartDateTime(), shift.GetEndDateTime())
		if err != nil || whole.Start != pieces[0].Start || whole.End != pieces[len(pieces)-1].End {
			t.Fatalf("the shift %v has segments %v: %v", whole, pieces, err)
		}
		ids := map[int64]bool{}
		for _, s := range shift.GetSegments() {
			if ids[s.GetId()] || s.GetId() == 0 {
				t.Fatalf("the id %d is there twice, or none", s.GetId())
			}
			ids[s.GetId()] = true
		}
		for i, p := range pieces {
			if i > 0 && p.Start < pieces[i-1].End {
				t.Fatalf("segments overlap: %v", pieces)
			}
			for m := p.Start / minute; p.Kind == Regular && m < p.End/minute; m++ {
				if !worked[m] {
					t.Fatalf("minute %d is gone, or was never worked", m)
				}
				delete(worked, m)
			}
		}
		if len(worked) > 0 {
			t.Fatalf("%d minutes are missing", len(worked))
		}
	})
}
